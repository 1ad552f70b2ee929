"""Repairs of frontmatter that is not valid YAML but has only one possible meaning."""

import re
from dataclasses import dataclass

from catalog.model.finding import Finding, FindingType
from pipeline.parsing import multiline_repair
from pipeline.parsing.codes import (
    BROKEN_QUOTES,
    TAB_INDENTATION,
    UNQUOTED_COLON,
    UNQUOTED_TEXT,
    UNQUOTED_VALUE,
)
from pipeline.parsing.yaml_reader import Unreadable, YamlText, read_yaml

_MAX_REPAIRS = 20

# A line's indentation with its dashes, its key and colon, and its value.
_ENTRY = re.compile(
    r"""(?P<indent>[ ]*(?:-[ ]+)*)
        (?P<key>(?:[\w.-][^\s:#]*|"[^"]*"|'[^']*')[ ]*:[ \t]+)?
        (?P<value>\S.*)""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"(?<=[ \t])#")
_PLAIN = re.compile(r"[^\s\"'\[\]{}|>&*!%@`#,?:-]|[?:-]\S")
_COLON = re.compile(r":(?:[ \t]|$)")
_RESERVED = re.compile(r"[@`%*&]")
_OTHER_MARKS = re.compile(r"[|>?:-][^|>]")  # before a sentence these are part of its text
# A quoted or bracketed part with more text after it: `[file] [count]`, `"Fast" checks`.
_PART_AND_MORE = re.compile(r"""(?:\[[^\[\]]*\]|\{[^{}]*\}|"[^"]*"|'[^']*')[ \t]+[^\s#]""")


@dataclass(frozen=True, slots=True)
class _Repair:
    """One change of a text's lines."""

    kind: FindingType
    message: str | None  # None for the summary of the kind
    first: int  # from 0, the first line changed
    after: list[str]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of reading YAML, with the repairs that were needed."""

    outcome: YamlText | Unreadable
    repairs: tuple[Finding, ...]  # each with its lines before all repairs and after them
    text: str


def read_repaired(text: str, first_line: int, first_column: int) -> Repaired:
    """Read YAML; if it is invalid, repair it and read it again.

    Each repair is the smallest change that lets libyaml read past the line where it stopped. If
    one does not help, all are dropped and the first error is returned. If the text starts after
    the dashes of a fence on the same line, the repair of that line shows them, too.
    """
    outcome = read_yaml(text, first_line, first_column)
    if not isinstance(outcome, Unreadable) or not outcome.repairable:
        return Repaired(outcome, (), text)
    lines = text.split("\n")
    repairs: list[_Repair] = []
    current: YamlText | Unreadable = outcome
    while isinstance(current, Unreadable):
        repair = _repair(lines, _line_of(current) - first_line) if current.repairable else None
        if repair is None or len(repairs) == _MAX_REPAIRS:
            return Repaired(outcome, (), text)
        lines[repair.first : repair.first + len(repair.after)] = repair.after
        stopped_at = _line_of(current)
        current = read_yaml("\n".join(lines), first_line, first_column)
        if (
            isinstance(current, Unreadable)
            and repair.kind is not TAB_INDENTATION
            and _line_of(current) <= stopped_at
        ):
            return Repaired(outcome, (), text)
        repairs.append(repair)
    fence = "-" * (first_column - 1)
    before, after = f"{fence}{text}".split("\n"), [f"{fence}{lines[0]}", *lines[1:]]
    findings = tuple(_finding(repair, first_line, before, after) for repair in repairs)
    return Repaired(current, findings, "\n".join(lines))


def _line_of(outcome: Unreadable) -> int:
    assert outcome.finding.line is not None  # libyaml's errors always have a line
    return outcome.finding.line


def _finding(repair: _Repair, first_line: int, before: list[str], after: list[str]) -> Finding:
    changed = slice(repair.first, repair.first + len(repair.after))
    return repair.kind.at(
        repair.message,
        line=first_line + repair.first,
        before="\n".join(before[changed]),
        after="\n".join(after[changed]),
    )


def _repair(lines: list[str], number: int) -> _Repair | None:
    """Return a safe repair for the line at which libyaml stopped, if one exists."""
    if text := multiline_repair.whole_text(lines, number):
        return _Repair(UNQUOTED_TEXT, None, text.first, text.lines)
    line = lines[number].rstrip() if 0 <= number < len(lines) else ""
    entry = _ENTRY.fullmatch(line)
    # If the value continues on the next line, quoting its first line does not repair the YAML.
    return (entry and _unquoted(entry, number)) or _broken_quotes(line, number) or _tabs(lines)


def _unquoted(entry: re.Match[str], number: int) -> _Repair | None:
    value, comment = entry["value"], ""
    if match := _COMMENT.search(value):
        value, comment = value[: match.start()].rstrip(), f" {value[match.start() :]}"
    field = (entry["key"] or "").rstrip(": \t") or "this item"
    if entry["key"] and _PLAIN.match(value) and _COLON.search(value):
        kind, reason = UNQUOTED_COLON, "holds a colon and a space"
    elif (
        _RESERVED.match(value)
        or _PART_AND_MORE.match(value)
        or (field in multiline_repair.PROSE and _OTHER_MARKS.match(value))
    ):
        kind, reason = UNQUOTED_VALUE, f"starts with {value[0]}"
    else:
        return None
    after = f"{entry['indent']}{entry['key'] or ''}{_quoted(value)}{comment}"
    message = f"The value of {field} {reason} but is not quoted; it was read as if it were."
    return _Repair(kind, message, number, [after])


def _quoted(value: str) -> str:
    if "'" in value and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return multiline_repair.single_quoted(value)


def _broken_quotes(line: str, number: int) -> _Repair | None:
    after = multiline_repair.escaped_quotes(line)
    return None if after is None else _Repair(BROKEN_QUOTES, None, number, [after])


def _tabs(lines: list[str]) -> _Repair | None:
    """Return tab indentation as spaces, if no other line is indented with spaces."""
    tabbed = [number for number, line in enumerate(lines) if line.startswith("\t")]
    indents = {line[: len(line) - len(line.lstrip())] for line in lines if line.strip()}
    if not tabbed or any(" " in indent for indent in indents):
        return None
    first, last = tabbed[0], tabbed[-1]
    after = [_with_spaces(line) for line in lines[first : last + 1]]
    return _Repair(
        TAB_INDENTATION,
        "Fields are indented with tabs, which YAML forbids; each tab was read as two spaces.",
        first,
        after,
    )


def _with_spaces(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest if rest.strip() else ""

"""Repairs of frontmatter that is not valid YAML but has only one possible meaning."""

import re
from typing import NamedTuple

from catalog.model.finding import Finding, FindingType
from pipeline.parsing import codes
from pipeline.parsing.yaml_reader import Unreadable, YamlText, read_yaml

_PROSE = ("description", "when_to_use", "compatibility")
"""Fields that contain sentences."""

_LOST_LINE_END = re.compile(
    r"(?<=\S)(?<![\w/-])(license|compatibility|metadata|allowed-tools|version|author|tags|name"
    r"|homepage|argument-hint|user-invocable|disable-model-invocation):(?:[ \t]|$)",
    re.ASCII,
)
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


class _Repair(NamedTuple):
    """One change of a line."""

    kind: FindingType
    message: str
    line: int  # from 0
    after: str
    fix: str | None = None  # the advice, if the author meant something else …


class Repaired(NamedTuple):
    """The result of reading YAML, with the repairs that were needed."""

    outcome: YamlText | Unreadable
    repairs: tuple[Finding, ...]  # each with its lines before all repairs and after them
    text: str


def repaired(text: str, first_line: int, first_column: int, outcome: Unreadable) -> Repaired:
    """Repair invalid YAML, and read it again.

    Each repair is the smallest change that lets libyaml read past the line where it stopped. If
    one does not help, all are dropped and the first error is returned. If the text starts after
    the dashes of a fence on the same line, the repair of that line shows them, too.
    """
    lines = text.split("\n")
    repairs: list[_Repair] = []
    current: YamlText | Unreadable = outcome
    while isinstance(current, Unreadable):
        repair = _repair(lines, _line_of(current) - first_line) if current.repairable else None
        if repair is None or len(repairs) == _MAX_REPAIRS:
            return Repaired(outcome, (), text)
        lines[repair.line] = repair.after
        stopped_at = _line_of(current)
        current = read_yaml("\n".join(lines), first_line, first_column)
        if isinstance(current, Unreadable) and _line_of(current) <= stopped_at:
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
    line = first_line + repair.line
    if repair.fix:  # … so the repair is not written
        return repair.kind.at(repair.message, fix=repair.fix, line=line)
    return repair.kind.at(
        repair.message, line=line, before=before[repair.line], after=after[repair.line]
    )


def _repair(lines: list[str], number: int) -> _Repair | None:
    """Return a safe repair for the line at which libyaml stopped, if one exists."""
    line = lines[number].rstrip() if 0 <= number < len(lines) else ""
    entry = _ENTRY.fullmatch(line)
    # If the value continues on the next line, quoting its first line does not repair the YAML.
    return _unquoted(entry, number) if entry else None


def _unquoted(entry: re.Match[str], number: int) -> _Repair | None:
    value, comment = entry["value"], ""
    if match := _COMMENT.search(value):
        value, comment = value[: match.start()].rstrip(), f" {value[match.start() :]}"
    field = (entry["key"] or "").rstrip(": \t") or "this item"
    if entry["key"] and _PLAIN.match(value) and _COLON.search(value):
        kind, reason = codes.UNQUOTED_COLON, "contains a colon and a space"
    elif (
        _RESERVED.match(value)
        or _PART_AND_MORE.match(value)
        or (field in _PROSE and _OTHER_MARKS.match(value))
    ):
        kind, reason = codes.UNQUOTED_VALUE, f"starts with {value[0]}"
    else:
        return None
    after = f"{entry['indent']}{entry['key'] or ''}{_quoted(value)}{comment}"
    if field in _PROSE and (lost := _LOST_LINE_END.search(value)):
        message = f"{field} contains {lost[1]}: without a line end before it, read as its text."
        return _Repair(kind, message, number, after, f"Begin a new line before {lost[1]}.")
    message = f"The value of {field} {reason} but is not quoted; it was read as if it were."
    return _Repair(kind, message, number, after)


def _quoted(value: str) -> str:
    """Return a text in quotes: single ones, which YAML reads literally, if that is as easy."""
    if "'" in value and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return "'" + value.replace("'", "''") + "'"

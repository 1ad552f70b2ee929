"""Repairs of frontmatter that is not valid YAML but has only one possible meaning."""

import re
from dataclasses import dataclass

from catalog.model.finding import Finding, FindingType
from pipeline.parsing import codes
from pipeline.parsing.yaml_reader import Unreadable, YamlText, read_yaml

PROSE = ("description", "when_to_use", "compatibility")
"""Fields that contain sentences."""

_PROSE = re.compile(rf"(?P<key>(?:{'|'.join(PROSE)})[ ]*:[ \t]+)(?P<value>\S.*)")
_OTHER = re.compile(
    r"[ \t]*(?:name|description|license|compatibility|metadata|allowed-tools|tools|model|version"
    r"|author|tags|category|triggers|when_to_use|argument-hint|user-invocable|color|hooks"
    r"|disable-model-invocation)[ ]*:(?:[ \t]|$)"
)
_LOST_LINE_END = re.compile(
    r"(?<=\S)(?<![\w/-])(license|compatibility|metadata|allowed-tools|version|author|tags|name"
    r"|homepage|argument-hint|user-invocable|disable-model-invocation):(?:[ \t]|$)",
    re.ASCII,
)
_KEY = re.compile(r"[\w.-]+[ ]*:(?:[ \t]|$)")
_NO_TEXT = re.compile(r"#|<{7}|={7}|>{7}|---")
_BLOCK = re.compile(r"[|>][-+1-9]{0,2}$")
_COMMENT_IN_TEXT = re.compile(r"(?:^|[ \t])#")
_EXAMPLE, _EXAMPLE_ENDS = "<example>", "</example>"
_QUOTED = re.compile(
    r"""(?P<before>[ ]*(?:-[ ]+)*(?:[\w.-]+[ ]*:[ \t]+)?)
        (?P<quote>["'])(?P<inside>.+)(?P=quote)[ \t]*""",
    re.VERBOSE,
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


@dataclass(frozen=True, slots=True)
class _Repair:
    """One change of a text's lines."""

    kind: FindingType
    message: str | None  # None for the summary of the kind
    first: int  # from 0, the first line changed
    after: list[str]
    fix: str | None = None  # the advice, if the author meant something else …


@dataclass(frozen=True, slots=True)
class Repaired:
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
        lines[repair.first : repair.first + len(repair.after)] = repair.after
        stopped_at = _line_of(current)
        current = read_yaml("\n".join(lines), first_line, first_column)
        if (
            isinstance(current, Unreadable)
            and repair.kind is not codes.TAB_INDENTATION
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
    if repair.fix:  # … so the repair is not written
        return repair.kind.at(repair.message, fix=repair.fix, line=first_line + repair.first)
    return repair.kind.at(
        repair.message,
        line=first_line + repair.first,
        before="\n".join(before[changed]),
        after="\n".join(after[changed]),
    )


def _repair(lines: list[str], number: int) -> _Repair | None:
    """Return a safe repair for the line at which libyaml stopped, if one exists."""
    if text := _whole_text(lines, number):
        return text
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
        kind, reason = codes.UNQUOTED_COLON, "contains a colon and a space"
    elif (
        _RESERVED.match(value)
        or _PART_AND_MORE.match(value)
        or (field in PROSE and _OTHER_MARKS.match(value))
    ):
        kind, reason = codes.UNQUOTED_VALUE, f"starts with {value[0]}"
    else:
        return None
    after = f"{entry['indent']}{entry['key'] or ''}{_quoted(value)}{comment}"
    if field in PROSE and (lost := _LOST_LINE_END.search(value)):
        message = f"{field} contains {lost[1]}: without a line end before it, read as its text."
        return _Repair(kind, message, number, [after], f"Begin a new line before {lost[1]}.")
    message = f"The value of {field} {reason} but is not quoted; it was read as if it were."
    return _Repair(kind, message, number, [after])


def _quoted(value: str) -> str:
    if "'" in value and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return _single_quoted(value)


def _broken_quotes(line: str, number: int) -> _Repair | None:
    after = _escaped_quotes(line)
    return None if after is None else _Repair(codes.BROKEN_QUOTES, None, number, [after])


def _tabs(lines: list[str]) -> _Repair | None:
    """Return tab indentation as spaces, if no other line is indented with spaces."""
    tabbed = [number for number, line in enumerate(lines) if line.startswith("\t")]
    indents = {line[: len(line) - len(line.lstrip())] for line in lines if line.strip()}
    if not tabbed or any(" " in indent for indent in indents):
        return None
    first, last = tabbed[0], tabbed[-1]
    after = [_with_spaces(line) for line in lines[first : last + 1]]
    return _Repair(
        codes.TAB_INDENTATION,
        "Fields are indented with tabs, which YAML forbids; each tab was read as two spaces.",
        first,
        after,
    )


def _with_spaces(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest if rest.strip() else ""


def _whole_text(lines: list[str], number: int) -> _Repair | None:
    """Return a field of sentences that spans several lines as one quoted text.

    The field is the last one at or above the line at which libyaml stopped. Lines that are not
    indented belong to it if they do not look like a field, or if they precede the end of an
    example that began in it. None if the text could have another meaning.
    """
    first = next(
        (n for n in range(min(number, len(lines) - 1), -1, -1) if _PROSE.match(lines[n])), None
    )
    if first is None:
        return None
    field = _PROSE.fullmatch(lines[first].rstrip())
    last = _last_line(lines, first)
    if field is None or last == first or number > last + 1:
        return None
    value, below = field["value"], lines[first + 1 : last + 1]
    if _BLOCK.match(value):
        aligned = _aligned(below)
        return _Repair(codes.UNQUOTED_TEXT, None, first + 1, aligned) if aligned != below else None
    if value[0] in "\"'[{" or any(_COMMENT_IN_TEXT.search(line) for line in (value, *below)):
        return None
    texts = [line.replace("'", "''") for line in (value, *map(str.strip, below))]
    indented = [f"  {text}" if text else "" for text in texts[1:]]
    repaired = [f"{field['key']}'{texts[0]}", *indented]
    repaired[-1] += "'"
    return _Repair(codes.UNQUOTED_TEXT, None, first, repaired)


def _aligned(block: list[str]) -> list[str]:
    """Return the lines of a block indented like its first; one with tabs stays as it is."""
    first = next(line for line in block if line.strip())  # its last line is not empty
    width = len(first) - len(first.lstrip(" "))
    if first.startswith("\t"):
        return block
    if not width:
        return [f"  {line}".rstrip() for line in block]
    return [
        " " * width + line.strip()
        if (line.strip() and not line.startswith(" " * width)) or line[width:].startswith("\t")
        else line
        for line in block
    ]


def _last_line(lines: list[str], first: int) -> int:
    """Return the last line of the text that starts on a line, or that line if it is unclear."""
    end = next((n for n in range(first + 1, len(lines)) if _OTHER.match(lines[n])), len(lines))
    if end < len(lines) and lines[end][:1] in " \t":
        return first  # a field with a wrong indentation
    ends = [n for n in range(first, end) if _EXAMPLE_ENDS in lines[n]]
    if _EXAMPLE in "".join(lines[first:end]) and ends:
        end = ends[-1] + 1
    else:
        end = next((n for n in range(first + 1, end) if _KEY.match(lines[n])), end)
    if any(_NO_TEXT.match(line) for line in lines[first + 1 : end]):
        return first
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return end - 1


def _escaped_quotes(line: str) -> str | None:
    r"""Return a line with its quoted value escaped, if quotes or backslashes in it break it.

    `"the "best" way"`, `'it's'` and `"\d+"` are read literally between the outer quotes.
    None if the first quote inside may end a part: `"a", "b"`.
    """
    value = _QUOTED.fullmatch(line.rstrip())
    if value is None:
        return None
    quote, inside = value["quote"], value["inside"]
    escaped = r"\\." if quote == '"' else "''"
    inner = re.sub(escaped, "__", inside).partition(quote)
    if inner[1] and not inner[2][:1].isalnum():
        return None
    plain = re.sub(r'\\(["\\])', r"\1", inside) if quote == '"' else inside.replace("''", "'")
    return f"{value['before']}{_single_quoted(plain)}"


def _single_quoted(text: str) -> str:
    """Return a text in single quotes, which YAML reads literally."""
    return "'" + text.replace("'", "''") + "'"

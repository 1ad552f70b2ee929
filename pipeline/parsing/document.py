"""Parser that turns any bytes of a SKILL.md into frontmatter, body and findings."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from catalog.model.finding import Finding
from catalog.model.values import Json
from catalog.text.visible import with_plain_line_ends
from pipeline.parsing import codes
from pipeline.parsing.decoding import byte_findings, decode, without_forbidden_characters
from pipeline.parsing.yaml_reader import Position, Unreadable, YamlText, read_yaml
from pipeline.parsing.yaml_repair import Repaired, repaired

MAX_FRONTMATTER_BYTES = 16_384

# Starts of files without frontmatter, with advice for what the author probably meant.
_LATER = re.compile(r"^---[ \t]*\n[ \t]*(?:name|description):", re.MULTILINE)
_LOOKALIKES = (
    ("+++", "The frontmatter is TOML between +++ lines; write it as YAML between --- lines."),
    ("{", "The file starts with JSON; write it as YAML between --- lines."),
    ("```", "The file starts with a code fence; delete it, so that --- is the first line."),
    ("<<<<<<<", "Resolve the merge conflict at the top of the file."),
    ("----", "Write the line as three dashes alone: ---."),
    ("\u2014", "Write the line as three plain hyphens: ---."),
    ("\u2013", "Write the line as three plain hyphens: ---."),
    ("name:", "Write --- on a line above the fields, and another below them."),
    ("description:", "Write --- on a line above the fields, and another below them."),
)


class Parsed(NamedTuple):
    """Content of one SKILL.md."""

    frontmatter: Mapping[str, Json] | None  # None if it is missing or cannot be repaired
    positions: Mapping[str, Position]  # of every key: "name", "metadata.author", "hooks.0.run"
    text: str  # the whole file decoded, without a byte order mark
    body: str  # without space at its ends, as the reference validator reads it; LF line ends
    body_line: int  # the line of the file on which the body starts, from 1
    findings: tuple[Finding, ...]
    quoted: frozenset[str] = frozenset()  # paths of the values in quotes or blocks
    closing_line: int = 1  # of the file, on which the frontmatter ends; 1 if there is none


def parse(data: bytes, name: str = "SKILL.md") -> Parsed:
    """Parse the bytes of a SKILL.md; never raises.

    name is the file's name, for the findings. Every scalar of the frontmatter is the string that
    was written (`no`, `8004`, `1.0`); a plain one that is empty, `~` or `null` is None. A
    duplicate key keeps its first value, and its finding rejects.
    """
    text, findings = decode(data)
    lines = with_plain_line_ends(text)
    parsed = _read(lines)
    findings += (*parsed.findings, *byte_findings(data, lines, parsed.closing_line))
    return parsed._replace(
        text=text, findings=tuple(finding._replace(path=name) for finding in findings)
    )


def _read(lines: str) -> Parsed:
    text = lines.strip()  # like python-frontmatter, so that offsets agree
    first_line = 1 + lines.count("\n", 0, len(lines) - len(lines.lstrip()))
    if not starts_with_fence(text):
        return _without_fields(text, first_line, _missing(text, first_line))
    parsed, read = _read_fenced(text, first_line)
    if read is None or (isinstance(read.outcome, Unreadable) and read.outcome.repairable):
        parsed = _read_closed(text, first_line) or parsed
    if lines.startswith("-"):
        return parsed
    misplaced = codes.FRONTMATTER_NOT_FIRST.at(line=first_line)
    return parsed._replace(findings=(misplaced, *parsed.findings))


def _without_fields(body: str, line: int, *findings: Finding, closing_line: int = 1) -> Parsed:
    return Parsed(None, {}, "", body, line, findings, closing_line=closing_line)


def _missing(text: str, line: int) -> Finding:
    if not text:
        return codes.SKILL_MD_EMPTY.at(line=1)
    fix = next((fix for start, fix in _LOOKALIKES if text.startswith(start)), None)
    if fix is None and (later := _LATER.search(text)):
        fence_line = line + text.count("\n", 0, later.start())
        fix = f"Move the text before the --- of line {fence_line} below the frontmatter."
    return codes.FRONTMATTER_MISSING.at(fix=fix, line=line)


class _EventHandler(YAMLHandler):
    """Handler with which python-frontmatter reads one file between its fences.

    The library returns fields and body; lines and findings are kept here.
    """

    def __init__(self, cut: "Fences") -> None:
        self._cut = cut
        self.read = Repaired(YamlText(None, {}, ()), (), "")

    def split(self, text: str) -> tuple[str, str]:
        """Return the frontmatter and the body."""
        return self._cut.frontmatter, self._cut.body

    def load(self, fm: str, **_: object) -> dict[str, Any]:
        """Return the fields, or none if the frontmatter has no fields."""
        self.read = self._read(fm)
        outcome = self.read.outcome
        value = outcome.value if isinstance(outcome, YamlText) else None
        return value if isinstance(value, dict) else {}

    def _read(self, fm: str) -> Repaired:
        size, line = len(fm.encode()), self._cut.line
        if size > MAX_FRONTMATTER_BYTES:
            message = f"The frontmatter has {size:,} bytes; the limit is {MAX_FRONTMATTER_BYTES:,}."
            return Repaired(Unreadable(codes.FRONTMATTER_TOO_LARGE.at(message, line=line)), (), fm)
        text, column = without_forbidden_characters(fm), self._cut.column
        outcome = read_yaml(text, line, column)
        if isinstance(outcome, Unreadable) and outcome.repairable:
            return repaired(text, line, column, outcome)
        return Repaired(outcome, (), text)


def _read_fenced(text: str, first_line: int) -> tuple[Parsed, Repaired | None]:
    """Read a text that starts with a fence; no YAML was read if no other fence follows."""
    cut = cut_at_fences(text, first_line)
    if cut is None:
        unclosed = codes.FRONTMATTER_UNCLOSED.at(line=first_line)
        return _without_fields(text, first_line, unclosed), None
    handler = _EventHandler(cut)
    fields, body = frontmatter.parse("", handler=handler)  # the handler has the text
    read, outcome = handler.read, handler.read.outcome
    gap = cut.body.count("\n", 0, len(cut.body) - len(cut.body.lstrip())) if body else 0
    line, closing_line = cut.body_line + gap, cut.closing_line
    findings = (*read.repairs, *_fence_findings(cut, read))
    if isinstance(outcome, Unreadable):
        findings = (*findings, outcome.finding)
    elif isinstance(outcome.value, Mapping):
        return Parsed(
            frontmatter=cast("Mapping[str, Json]", fields),
            positions=outcome.positions,
            text="",
            body=body,
            body_line=line,
            findings=(*findings, *outcome.findings),
            quoted=outcome.quoted,
            closing_line=closing_line,
        ), read
    else:
        findings = (*findings, *outcome.findings, _not_a_mapping(outcome.value, cut.line))
    return _without_fields(body, line, *findings, closing_line=closing_line), read


def _fence_findings(cut: "Fences", read: Repaired) -> tuple[Finding, ...]:
    """Return the findings about the fences, with the repaired text after the opening fence."""
    if cut.column == 1 or not read.repairs:
        return cut.findings
    opening, *others = cut.findings
    first = read.text.partition("\n")[0].rstrip()
    return opening._replace(after=f"---\n{first}"), *others


def _not_a_mapping(value: Json, line: int) -> Finding:
    kind = "empty" if value is None else "a list" if isinstance(value, list) else "plain text"
    return codes.FRONTMATTER_NOT_MAPPING.at(
        f"The frontmatter is {kind}, not `key: value` fields.", line=line
    )


def _read_closed(text: str, first_line: int) -> Parsed | None:
    """Read a text with a closing fence inserted; None if it then declares no skill."""
    closed = with_closing_fence(text, MAX_FRONTMATTER_BYTES)
    if closed is None:
        return None
    parsed, read = _read_fenced(closed.text, first_line)
    fields = parsed.frontmatter
    if read is None or fields is None or fields.keys().isdisjoint(("name", "description")):
        return None
    line, after, findings = first_line + closed.line, closed.after, parsed.findings
    if closed.is_end:
        last = read.text.rstrip("\n").rpartition("\n")[2]
        after = f"{last}\n---"
        if closed.line == 0:  # one line is the whole frontmatter, and one change is enough
            after = f"---\n{after.strip()}"
            findings = tuple(f._replace(before=None, after=None) for f in findings)
    missing = codes.CLOSING_FENCE_MISSING.at(
        f"No --- line closes the frontmatter; it was read as ending at line {line}.",
        line=line,
        before=closed.before,
        after=after,
    )
    return parsed._replace(
        body_line=parsed.body_line - closed.after.count("\n"),
        findings=(*findings, missing),
    )


# Fences

_KEY = re.compile(r"""(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)""")
# After an empty line only a lower-case key counts: a body may start with `Note: …`.
_KEY_AFTER_GAP = re.compile(r"[a-z][a-z0-9_-]*:(?:[ \t]|$)")
_CLOSING = re.compile(r"^---(?P<rest>[^\n]*)\n?", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]")


class Fences(NamedTuple):
    """A file cut at the two lines of dashes that enclose its frontmatter."""

    frontmatter: str
    line: int  # of the file, on which the frontmatter starts
    column: int  # 1, unless text follows the dashes of the opening fence on its line
    closing_line: int  # of the file
    body: str
    body_line: int  # of the file, on which `body` starts
    findings: tuple[Finding, ...]


class Closed(NamedTuple):
    """A text with its missing closing fence inserted."""

    text: str
    line: int  # of the text, from 0: here …
    before: str  # … this stood …
    after: str  # … and was replaced by this
    is_end: bool  # whether it is the last line of the text, so that the fence follows the text


def starts_with_fence(text: str) -> bool:
    """Return whether the text starts with a frontmatter fence."""
    return text.startswith("---") and not text.startswith("----")


def cut_at_fences(text: str, first_line: int = 1) -> Fences | None:
    """Split a text that starts with a fence at its fences; None if no line closes it.

    Lines end in LF. A fence is a line that starts with `---` in column 0, where YAML allows no
    text either; `---` anywhere else is text. Anything after the dashes is accepted, with a
    finding: after the opening dashes it belongs to the frontmatter, after the closing ones to
    the body.
    """
    opening, start, findings = _opening(text, first_line)
    closing = _CLOSING.search(text, start)
    if closing is None:
        return None
    line = first_line + opening
    fence_line = line + text.count("\n", start, closing.start())
    rest = closing["rest"].strip()
    has_text = bool(rest.strip("-"))  # of the body
    if rest:
        after = f"---\n{rest}" if has_text else "---"
        findings.append(_not_alone(fence_line, closing[0].rstrip(), after, "closes"))
    return Fences(
        text[start : closing.start()],
        line,
        1 if opening else start + 1,
        fence_line,
        text[closing.start("rest") if has_text else closing.end() :],
        fence_line if has_text else fence_line + 1,
        tuple(findings),
    )


def with_closing_fence(text: str, limit: int) -> Closed | None:
    """Insert a closing fence after the fields; None if their end is unclear.

    The fields end before a heading with an empty line below it, at an empty line that no field
    follows, at `...` or an indented `---`, or at the end of the file; within `limit`
    characters. If text follows them without a gap, their end is unclear. The caller checks
    whether they are valid YAML.
    """
    lines = text[:limit].split("\n")
    following = _next_filled(lines)
    is_cut = len(text) > limit
    if is_cut:
        lines.pop()  # it may continue beyond the limit
    for number, line in enumerate(lines[1:], 1):
        if line.startswith("---"):
            return None
        if line.rstrip() == "..." or line.strip() == "---":
            return _closed(text, lines, number, "---")
        if number > 1 and _HEADING.match(line) and not "".join(lines[number + 1 : number + 2]):
            return _closed(text, lines, number, f"---\n{line}")
        if not line.strip():
            if is_cut and not following[number]:
                return None
            if not _may_continue(following[number]):
                return _closed(text, lines, number, "---\n")
        elif not (line[0] in " \t#-" or _KEY.match(line)):
            return None
    if is_cut:
        return None
    return _closed(text, lines, len(lines) - 1, f"{lines[-1]}\n---", is_end=True)


def _next_filled(lines: list[str]) -> list[str]:
    """Return, for each line, the next one that is not blank, or an empty one at the end."""
    filled, following = "", []
    for line in reversed(lines):
        following.append(filled)
        filled = line if line.strip() else filled
    return following[::-1]


def _opening(text: str, line: int) -> tuple[int, int, list[Finding]]:
    """Return how many lines the opening fence takes, where the frontmatter starts, and findings."""
    first, newline, _ = text.partition("\n")
    rest = first[3:].strip()
    if not rest:
        return 1, len(first) + len(newline), []
    return 0, 3, [_not_alone(line, first.rstrip(), f"---\n{first[3:].rstrip()}", "opens")]


def _not_alone(line: int, before: str, after: str, verb: str) -> Finding:
    message = f"The line that {verb} the frontmatter does not consist of its three dashes alone."
    return codes.FENCE_NOT_ALONE.at(message, line=line, before=before, after=after)


def _may_continue(line: str) -> bool:
    return line.startswith((" ", "\t", "#")) or bool(_KEY_AFTER_GAP.match(line))


def _closed(
    text: str, lines: list[str], number: int, after: str, *, is_end: bool = False
) -> Closed:
    start = sum(map(len, lines[:number])) + number
    before = lines[number]
    return Closed(
        f"{text[:start]}{after}{text[start + len(before) :]}", number, before, after, is_end
    )

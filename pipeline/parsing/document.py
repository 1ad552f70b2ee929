"""Parser that turns any bytes of a SKILL.md into frontmatter, body and findings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from catalog.model.finding import Finding
from catalog.model.values import Json
from catalog.text.body import with_plain_line_ends
from pipeline.parsing import codes, fences
from pipeline.parsing.decoding import (
    byte_findings,
    decode,
    without_forbidden_characters,
)
from pipeline.parsing.repair import Repaired, read_repaired
from pipeline.parsing.yaml_reader import Position, Unreadable, YamlText

MAX_FRONTMATTER_BYTES = 16_384

# Starts of files without frontmatter, with advice for what the author probably meant.
_LATER = re.compile(r"^---[ \t]*\n[ \t]*(?:name|description):", re.MULTILINE)
_LOOKALIKES = (
    ("+++", "The frontmatter is TOML between +++ lines; write it as YAML between --- lines."),
    ("{", "The file starts with JSON; write it as YAML between --- lines."),
    ("```", "The file starts with a code fence; delete it, so that --- is the first line."),
    ("<<<<<<<", "Resolve the merge conflict at the top of the file."),
    ("\u2014", "Write the line as three plain hyphens: ---."),
    ("\u2013", "Write the line as three plain hyphens: ---."),
    ("name:", "Write --- on a line above the fields, and another below them."),
    ("description:", "Write --- on a line above the fields, and another below them."),
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Content of one SKILL.md."""

    frontmatter: Mapping[str, Json] | None  # None if it is missing or cannot be repaired
    positions: Mapping[str, Position]  # of every key: "name", "metadata.author", "hooks.0.run"
    text: str  # the whole file decoded, without a byte order mark
    body: str  # without space at its ends, as the reference validator reads it; LF line ends
    body_line: int  # the line of the file on which the body starts, from 1
    findings: tuple[Finding, ...]
    quoted: frozenset[str] = frozenset()  # paths of the values in quotes or blocks


def parse(data: bytes, name: str = "SKILL.md") -> Parsed:
    """Parse the bytes of a SKILL.md; never raises.

    name is the file's name, for the findings. Every scalar of the frontmatter is the string that
    was written (`no`, `8004`, `1.0`); a plain one that is empty, `~` or `null` is None. A
    duplicate key keeps its first value, and its finding rejects.
    """
    text, findings = decode(data)
    lines = with_plain_line_ends(text)
    reading = _read(lines)
    findings += reading.findings
    findings += tuple(byte_findings(data, lines, reading.closing_line))
    return Parsed(
        frontmatter=reading.value,
        positions=reading.positions,
        text=text,
        body=reading.body,
        body_line=reading.body_line,
        findings=tuple(finding._replace(path=name) for finding in findings),
        quoted=reading.quoted,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Content of a text; fields without a comment are as in Parsed."""

    body: str
    body_line: int
    findings: tuple[Finding, ...]
    value: Mapping[str, Json] | None = None
    positions: Mapping[str, Position] = field(default_factory=dict)
    quoted: frozenset[str] = frozenset()
    closing_line: int = 1  # of the frontmatter; 1 if there is none
    frontmatter: str = ""  # as it was read, with its repairs
    maybe_unclosed: bool = False  # no fence closes it, or only a line that may belong to the body


def _read(lines: str) -> _Reading:
    text = lines.strip()  # like python-frontmatter, so that offsets agree
    first_line = 1 + lines.count("\n", 0, len(lines) - len(lines.lstrip()))
    if not fences.opens(text):
        return _Reading(text, first_line, (_missing(text, first_line),))
    reading = _read_fenced(text, first_line)
    if reading.maybe_unclosed:
        reading = _read_closed(text, first_line) or reading
    if lines.startswith("-"):
        return reading
    misplaced = codes.FRONTMATTER_NOT_FIRST.at(line=first_line)
    return replace(reading, findings=(misplaced, *reading.findings))


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

    def __init__(self, cut: fences.Fences) -> None:
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
        return read_repaired(without_forbidden_characters(fm), line, self._cut.column)


def _read_fenced(text: str, first_line: int) -> _Reading:
    cut = fences.cut(text, first_line)
    if cut is None:
        unclosed = codes.FRONTMATTER_UNCLOSED.at(line=first_line)
        return _Reading(text, first_line, (unclosed,), maybe_unclosed=True)
    handler = _EventHandler(cut)
    fields, body = frontmatter.parse(text, handler=handler)
    read, outcome = handler.read, handler.read.outcome
    gap = cut.body.count("\n", 0, len(cut.body) - len(cut.body.lstrip())) if body else 0
    reading = _Reading(
        body,
        cut.body_line + gap,
        cut.findings,
        closing_line=cut.closing_line,
        frontmatter=read.text,
    )
    if isinstance(outcome, Unreadable):
        return replace(
            reading, findings=(*cut.findings, outcome.finding), maybe_unclosed=outcome.repairable
        )
    findings = (*read.repairs, *_fence_findings(cut, read), *outcome.findings)
    if not isinstance(outcome.value, Mapping):
        return replace(reading, findings=(*findings, _not_a_mapping(outcome.value, cut.line)))
    return replace(
        reading,
        value=cast("Mapping[str, Json]", fields),
        positions=outcome.positions,
        quoted=outcome.quoted,
        findings=findings,
    )


def _fence_findings(cut: fences.Fences, read: Repaired) -> tuple[Finding, ...]:
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


def _read_closed(text: str, first_line: int) -> _Reading | None:
    """Read a text with a closing fence inserted; None if it then declares no skill."""
    closed = fences.close(text, MAX_FRONTMATTER_BYTES)
    if closed is None:
        return None
    reading = _read_fenced(closed.text, first_line)
    if reading.value is None or reading.value.keys().isdisjoint(("name", "description")):
        return None
    line, after, findings = first_line + closed.line, closed.after, reading.findings
    if closed.is_end:
        last = reading.frontmatter.rstrip("\n").rpartition("\n")[2]
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
    return replace(
        reading,
        body_line=reading.body_line - closed.after.count("\n"),
        findings=(*findings, missing),
    )

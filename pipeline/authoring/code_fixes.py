"""Fixes of findings by code, made on the draft of a SKILL.md."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from catalog.model.fields import SPECIFICATION_NAMES, spaced_tools
from catalog.model.finding import Finding
from catalog.model.values import Json
from pipeline.dialects.registry import dialects
from pipeline.parsing import document
from pipeline.parsing.decoding import decode
from pipeline.parsing.document import Parsed, parse
from pipeline.parsing.frontmatter_editor import dumped
from pipeline.validation.declare import clients
from pipeline.validation.profiles.spec.codes import FIELD_NOT_IN_SPECIFICATION
from pipeline.validation.profiles.spec.rules import is_valid_name

_LINE_END = re.compile(r"(\r\n|\r|\n)")
_BOM = "\ufeff"


@dataclass(frozen=True)
class Draft:
    """Content of a SKILL.md, before or after a fix; bytes that are not UTF-8 are surrogates."""

    folder: str  # name of the skill's folder
    lines: tuple[str, ...]
    ends: tuple[str, ...]  # of each line: LF, CRLF, CR or, of the last one, nothing
    has_mark: bool  # whether a byte order mark precedes the first line

    @classmethod
    def of(cls, data: bytes, folder: str) -> "Draft":
        """Return the draft with a file's bytes."""
        text = data.decode("utf-8", "surrogateescape")
        parts = _LINE_END.split(text.removeprefix(_BOM))
        return cls(folder, tuple(parts[::2]), (*parts[1::2], ""), text.startswith(_BOM))

    @cached_property
    def data(self) -> bytes:
        """Bytes of the file."""
        text = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        return f"{_BOM * self.has_mark}{text}".encode("utf-8", "surrogateescape")

    @property
    def text(self) -> str:
        """Text with LF line ends, without a byte order mark."""
        return "\n".join(self.lines)

    @cached_property
    def parsed(self) -> Parsed:
        """Content as rules read it."""
        return parse(self.data)

    @property
    def usual_end(self) -> str:
        """Most frequent line end, CRLF or LF."""
        return "\r\n" if self.ends.count("\r\n") > self.ends.count("\n") else "\n"

    def with_lines(self, first: int, count: int, lines: Sequence[str]) -> "Draft":
        """Return the draft with other lines in place of `count` lines; `first` is from 0."""
        ends = (*self.ends[first : first + count][: len(lines)],)
        ends += (self.usual_end,) * (len(lines) - len(ends))
        if count and ends and first + count == len(self.lines):  # the last line keeps its end
            ends = (*(end or self.usual_end for end in ends[:-1]), self.ends[-1])
        return replace(
            self,
            lines=(*self.lines[:first], *lines, *self.lines[first + count :]),
            ends=(*self.ends[:first], *ends, *self.ends[first + count :]),
        )

    def if_same(self, after: "Draft", fields: Mapping[str, Json] | None = None) -> "Draft | None":
        """Return a draft made from this one; None if more has changed than should.

        `fields` is the expected frontmatter, by default the present one.
        """
        expected = self.parsed.frontmatter if fields is None else fields
        is_same = after.parsed.body == self.parsed.body and after.parsed.frontmatter == expected
        return after if is_same else None


_VALUE = re.compile(r"(?P<key>[\w.-]+[ \t]*:)[ \t]*(?P<value>[^#]*?)(?P<rest>[ \t]*(?:[ \t]#.*)?)")
_METADATA = "metadata"


def without_mark(draft: Draft, _: Finding) -> Draft | None:
    """Remove the byte order mark."""
    return draft.if_same(replace(draft, has_mark=False))


def as_utf_8(draft: Draft, _: Finding) -> Draft | None:
    """Encode UTF-16 as UTF-8."""
    text, _findings = decode(draft.data)
    return None if "\ufffd" in text else Draft.of(text.encode(), draft.folder)


def repaired(draft: Draft, finding: Finding) -> Draft | None:
    """Write the repair of a finding into the file."""
    if finding.before is None or finding.after is None or not finding.line:
        return None
    before, first = finding.before.split("\n"), finding.line - 1
    present = draft.lines[first : first + len(before)]
    if [line.rstrip() for line in present] != [line.rstrip() for line in before]:
        return None
    after = finding.after.split("\n")
    return draft.if_same(draft.with_lines(first, len(before), after))


def named_like_its_folder(draft: Draft, _: Finding) -> Draft | None:
    """Write the folder's name as name if the two differ only in their form."""
    folder, fields = draft.folder, draft.parsed.frontmatter
    if fields is None or _end(draft) is None or not is_valid_name(folder):
        return None
    name = fields.get("name")
    if name and not (isinstance(name, str) and _form(name) == folder):
        return None
    line = dumped({"name": folder}).rstrip("\n")
    expected = {**fields, "name": folder}
    place = draft.parsed.positions.get("name")
    if place is None:
        return draft.if_same(draft.with_lines(1, 0, [line]), expected)
    present = _VALUE.fullmatch(draft.lines[place.line - 1])
    if not present:
        return None
    value = line.partition(":")[2]
    changed = f"{present['key']}{value}{present['rest']}"
    return draft.if_same(draft.with_lines(place.line - 1, 1, [changed]), expected)


def tools_on_one_line(draft: Draft, finding: Finding) -> Draft | None:
    """Write tools in a list, or with commas between them, as one text with spaces."""
    fields, field = draft.parsed.frontmatter, finding.field or ""
    tools = (fields or {}).get(field)
    if fields is None or not tools:
        return None
    if not isinstance(tools, str) and not (
        isinstance(tools, list | tuple)
        and all(isinstance(tool, str) and tool and not re.search(r"[\s,]", tool) for tool in tools)
    ):
        return None
    span = _span(draft, field)
    lines = draft.lines[span.start : span.stop] if span else ()
    if not span or any("#" in line for line in lines):
        return None
    text = str(spaced_tools(tools))
    line = dumped({field: text}).rstrip("\n")
    after = draft.with_lines(span.start, len(span), [line])
    return draft.if_same(after, {**fields, field: text})


def under_metadata(draft: Draft, finding: Finding) -> Draft | None:
    """Move the fields that no client reads under metadata, if none of them may be misspelt."""
    fields, known = draft.parsed.frontmatter or {}, clients(dialects())
    unknown = [field for field in fields if field not in SPECIFICATION_NAMES and field not in known]
    old = fields.get(_METADATA) or {}
    spans = [_span(draft, field) for field in unknown]
    if not spans or None in spans or finding.fix != FIELD_NOT_IN_SPECIFICATION.fix:
        return None
    if not isinstance(old, Mapping) or not old.keys().isdisjoint(unknown):
        return None
    if not all(isinstance(fields[field], str) for field in unknown):
        return None
    expected: dict[str, Json] = {k: value for k, value in fields.items() if k not in unknown}
    expected[_METADATA] = {**old, **{field: fields[field] for field in unknown}}
    return draft.if_same(_moved(draft, [span for span in spans if span]), expected)


def _moved(draft: Draft, spans: Sequence[range]) -> Draft:
    """Return the draft with the lines of some fields at the end of metadata."""
    under = _span(draft, _METADATA)
    moved = [line for span in spans for line in draft.lines[span.start : span.stop]]
    children = draft.lines[under.start + 1 : under.stop] if under else ()
    filled = next((line for line in children if line.strip()), "")
    indent = filled[: len(filled) - len(filled.lstrip())] or "  "
    lines = [f"{indent}{line}" if line.strip() else line for line in moved]
    end = under.stop if under else (_end(draft) or 0)
    if not under:
        lines.insert(0, f"{_METADATA}:")
    for span in sorted((*spans, range(end, end)), key=lambda span: (span.start, len(span)))[::-1]:
        draft = draft.with_lines(span.start, len(span), () if span else lines)
    return draft


def _span(draft: Draft, field: str) -> range | None:
    """Return the lines of a field, from 0, without the blank lines and comments below it."""
    positions, end = draft.parsed.positions, _end(draft)
    if field not in positions or end is None:
        return None
    start = positions[field].line - 1
    tops = [p.line - 1 for key, p in positions.items() if p.column == 1 and "." not in key]
    stop = min((line for line in tops if line > start), default=end)
    lines = draft.lines
    while stop > start + 1 and (not lines[stop - 1].strip() or lines[stop - 1].startswith("#")):
        stop -= 1
    return range(start, stop)


def _end(draft: Draft) -> int | None:
    """Return the line of the closing fence, from 0; None unless both fences are correct."""
    text = draft.text
    cut = document.cut_at_fences(text) if document.starts_with_fence(text) else None
    return None if cut is None or cut.findings else cut.closing_line - 1


def _form(name: str) -> str:
    """Return a name in the form of the specification."""
    return re.sub(r"[\W_]+", "-", name.strip().lower()).strip("-")


Fix: TypeAlias = Callable[[Draft, Finding], Draft | None]
"""Returns the fixed draft, or None if the finding has no single meaning."""


FIXES: Mapping[str, Fix] = {
    "not-utf-8": as_utf_8,
    "byte-order-mark": without_mark,
    "fence-not-alone": repaired,
    "closing-fence-missing": repaired,
    "unquoted-colon": repaired,
    "unquoted-value": repaired,
    "name-missing": named_like_its_folder,
    "name-not-lower-case": named_like_its_folder,
    "name-characters": named_like_its_folder,
    "name-outer-hyphen": named_like_its_folder,
    "name-double-hyphen": named_like_its_folder,
    "name-not-folder": named_like_its_folder,
    "allowed-tools-not-text": tools_on_one_line,
    "field-not-in-specification": under_metadata,
}
"""Fixes by code, in the order in which they are tried: each needs the ones before it."""

RENAMED = "skill-md-other-case"
"""Code that is fixed by renaming the file."""

"""Fixes of the frontmatter: repairs, names, and fields that belong under metadata."""

import re
from collections.abc import Mapping

from catalog.model.finding import Finding
from catalog.model.values import Json
from pipeline.authoring.fixes.draft import Draft
from pipeline.authoring.fixes.source import Source
from pipeline.parsing import fences
from pipeline.parsing.frontmatter_editor import dumped
from pipeline.validation.profiles.spec.codes import FIELD_NOT_IN_SPECIFICATION

_VALUE = re.compile(r"(?P<key>[\w.-]+[ \t]*:)[ \t]*(?P<value>[^#]*?)(?P<rest>[ \t]*(?:[ \t]#.*)?)")
_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_NAME_LIMIT = 64
_METADATA = "metadata"


def repaired(draft: Draft, finding: Finding) -> Draft | None:
    """Write a repair, which the finding holds, into the file."""
    if finding.before is None or finding.after is None or not finding.line:
        return None
    before, first = finding.before.split("\n"), finding.line - 1
    present = draft.source.lines[first : first + len(before)]
    if [line.rstrip() for line in present] != [line.rstrip() for line in before]:
        return None
    after = finding.after.split("\n")
    return draft.edited(draft.source.with_lines(first, len(before), after))


def starting_at_the_top(draft: Draft, _: Finding) -> Draft | None:
    """Remove the space before the frontmatter."""
    source, first = draft.source, 0
    while first < len(source.lines) and not source.lines[first].strip():
        first += 1
    top = source.with_lines(0, first, ())
    return draft.edited(top.with_lines(0, 1, [top.lines[0].lstrip()]))


def without_tabs(draft: Draft, finding: Finding) -> Draft | None:
    """Replace the tabs of a line by spaces."""
    line = draft.source.lines[(finding.line or 1) - 1]
    return draft.edited(
        draft.source.with_lines((finding.line or 1) - 1, 1, [line.replace("\t", " ")])
    )


def named_like_its_folder(draft: Draft, _: Finding) -> Draft | None:
    """Write the folder's name as name if the two differ only in their form."""
    name = (draft.parsed.frontmatter or {}).get("name")
    if name is None or name == "" or (isinstance(name, str) and _form(name) == draft.folder):
        return renamed(draft, _)
    return None


def renamed(draft: Draft, _: Finding) -> Draft | None:
    """Write the folder's name as name, if it is a valid one."""
    folder, fields = draft.folder, draft.parsed.frontmatter
    is_valid = _NAME.fullmatch(folder) and folder == folder.lower() and len(folder) <= _NAME_LIMIT
    end = _end(draft)
    if fields is None or end is None or not is_valid:
        return None
    line = dumped({"name": folder}).rstrip("\n")
    expected = {**fields, "name": folder}
    place = draft.parsed.positions.get("name")
    if place is None:
        return draft.edited(draft.source.with_lines(1, 0, [line]), expected)
    present = _VALUE.fullmatch(draft.source.lines[place.line - 1])
    if not present:
        return None
    value = line.partition(":")[2]
    changed = f"{present['key']}{value}{present['rest']}"
    return draft.edited(draft.source.with_lines(place.line - 1, 1, [changed]), expected)


def tools_on_one_line(draft: Draft, finding: Finding) -> Draft | None:
    """Write a list of tools as one text."""
    fields, field = draft.parsed.frontmatter, finding.field or ""
    tools = (fields or {}).get(field)
    if fields is None or not isinstance(tools, list | tuple):
        return None
    if not all(isinstance(tool, str) and tool and not re.search(r"[\s,]", tool) for tool in tools):
        return None
    span = _span(draft, field)
    lines = draft.source.lines[span.start : span.stop] if span else ()
    if not span or any("#" in line for line in lines):
        return None
    text = " ".join(map(str, tools))
    line = dumped({field: text}).rstrip("\n")
    source = draft.source.with_lines(span.start, len(span), [line])
    return draft.edited(source, {**fields, field: text})


def under_metadata(draft: Draft, finding: Finding) -> Draft | None:
    """Move a field under metadata if the finding knows no other advice.

    A field of a system that the skill may be for, or a misspelt one, has a second meaning.
    """
    fields, field = draft.parsed.frontmatter, finding.field or ""
    span = _span(draft, field) if fields and field in fields else None
    if fields is None or span is None or finding.fix != FIELD_NOT_IN_SPECIFICATION.fix:
        return None
    old = fields.get(_METADATA)
    if not isinstance(fields[field], str) or not isinstance(old, Mapping | None):
        return None
    if old and field in old:
        return None
    expected: dict[str, Json] = {k: value for k, value in fields.items() if k != field}
    expected[_METADATA] = {**(old or {}), field: fields[field]}
    return draft.edited(_moved(draft, span), expected)


def _moved(draft: Draft, span: range) -> Source:
    """Return the source with the lines of a field at the end of metadata."""
    source, under = draft.source, _span(draft, _METADATA)
    moved = source.lines[span.start : span.stop]
    children = source.lines[under.start + 1 : under.stop] if under else ()
    filled = next((line for line in children if line.strip()), "")
    indent = filled[: len(filled) - len(filled.lstrip())] or "  "
    lines = [f"{indent}{line}" if line.strip() else line for line in moved]
    end = under.stop if under else (_end(draft) or 0)
    if not under:
        lines.insert(0, f"{_METADATA}:")
    if span.start < end:
        return source.with_lines(end, 0, lines).with_lines(span.start, len(span), ())
    return source.with_lines(span.start, len(span), ()).with_lines(end, 0, lines)


def _span(draft: Draft, field: str) -> range | None:
    """Return the lines of a field, from 0, without the blank lines and comments below it."""
    positions, end = draft.parsed.positions, _end(draft)
    if field not in positions or end is None:
        return None
    start = positions[field].line - 1
    tops = [p.line - 1 for key, p in positions.items() if p.column == 1 and "." not in key]
    stop = min((line for line in tops if line > start), default=end)
    lines = draft.source.lines
    while stop > start + 1 and (not lines[stop - 1].strip() or lines[stop - 1].startswith("#")):
        stop -= 1
    return range(start, stop)


def _end(draft: Draft) -> int | None:
    """Return the line of the closing fence, from 0; None unless both fences are correct."""
    text = draft.source.text
    cut = fences.cut(text) if fences.opens(text) else None
    return None if cut is None or cut.findings else cut.closing_line - 1


def _form(name: str) -> str:
    """Return a name in the form of the specification."""
    return re.sub(r"[\W_]+", "-", name.strip().lower()).strip("-")

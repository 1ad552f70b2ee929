"""Pages of a skill's versions, and of the changes between two versions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.prompt_index.query import one_moment
from catalog.reading import browse
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.pages.skill import UNKNOWN_SKILL, row_query
from catalog.site.rendering.background import aside
from catalog.site.rendering.result_cache import ResultCache
from catalog.text.differences import Difference, Work, difference

LIST = r"^/skills/(?P<skill_id>[^/]+)/versions$"
ROUTE = r"^/skills/(?P<skill_id>[^/]+)/versions/(?P<version>[^/]+)$"

PAGE = 300_000
"""Approximate characters of differences on one page, which links to the next page."""
ROW = 100
"""Characters that a row counts in addition to its text."""
LONGEST_ROW = 1_000
"""Most characters of a line in one row; a longer line takes several rows."""
COMPARED_CHARS = 4_000_000
"""Characters of texts that one page compares; further files are compared one by one."""
LISTED = 200
"""Versions on one page of the list."""


class DiffRow(NamedTuple):
    """Row of the page: a line of a difference, or a part of a long line."""

    kind: str  # add, del, same, place
    text: str
    is_continued: bool = False  # whether it continues the row before it


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one file between two versions."""

    path: str
    kind: str  # added, removed, changed
    lines: tuple[DiffRow, ...] = ()
    note: str = ""
    is_separate: bool = False  # whether it is compared only on a page of its own
    is_elsewhere: bool = False  # whether all its rows are on other pages


Compared: TypeAlias = tuple[FileChange, Difference | None]


@dataclass(frozen=True, slots=True)
class Part:
    """Changed files, with the rows of one page."""

    changes: tuple[FileChange, ...]
    first: int  # rows before this page
    total: int  # rows on all pages
    is_coarse: bool = False  # whether no lines were matched, because the site is busy

    @property
    def following(self) -> int | None:
        """First row of the next page; None on the last page."""
        after = self.first + sum(len(change.lines) for change in self.changes)
        return after if after < self.total else None


async def listing(context: RequestContext) -> Response:
    """Show the versions of a skill, newest first."""
    skill_id, number = context.path_part("skill_id"), context.number("page") or 1
    result = await context.query(_versions, skill_id, context.number("row"))
    if not result:
        return context.not_found(UNKNOWN_SKILL.format(skill_id))
    skill, versions = result
    shown = versions[(number - 1) * LISTED : number * LISTED]
    return context.page(
        "versions.html",
        skill=skill,
        row_query=row_query(skill),
        total=len(versions),
        number=number,
        has_more=number * LISTED < len(versions),
        versions=[row | {"inventory": json.loads(row["file_inventory"])} for row in shown],
    )


async def page(context: RequestContext) -> Response:
    """Show the changes from the version before, or from the one that the query names."""
    skill_id, name, only = (
        context.path_part("skill_id"),
        context.path_part("version"),
        context.parameter("file"),
    )
    result = await context.query(_pair, skill_id, name, context.parameter("against"), only)
    if not result:
        return context.not_found(f"{skill_id} has no version {name}.")
    skill, version, before, old, new = result
    first, continues_coarse = context.number("from") or 0, bool(context.parameter("coarse"))
    key = (before and before["digest"], version["digest"], only)

    def exact() -> Part:
        return take(_COMPARISONS.get(key, lambda: list(compare(old, new, Work()))), first)

    def coarse() -> Part:  # its rows have other numbers
        start = first if continues_coarse else 0
        return replace(take(compare(old, new, Work(0)), start), is_coarse=True)

    part = await aside(coarse if continues_coarse else exact, otherwise=coarse)
    return context.page(
        "diff.html",
        skill=skill,
        row_query=row_query(skill),
        version=version,
        before=before,
        part=part,
        only=only,
        against=context.parameter("against"),
        files=version["files"],
    )


def take(compared: Iterable[Compared], first: int = 0, room: int = PAGE) -> Part:
    """Return one page of the differences, starting at a row, counted from 0.

    room is the approximate number of characters on the page.

    Every page lists all changed files, SKILL.md first; the rows of a file may span pages.
    """
    changes, number = [], 0
    for change, diff in compared:
        rows: list[DiffRow] = []
        start = number
        for row in _rows(diff) if diff else ():
            if number >= first and room > 0:
                rows.append(row)
                room -= len(row.text) + ROW
            number += 1
        changes.append(replace(change, lines=tuple(rows), is_elsewhere=number > start and not rows))
    return Part(tuple(changes), min(first, number), number)


def compare(old: Mapping[str, Row], new: Mapping[str, Row], work: Work) -> Iterator[Compared]:
    """Yield the change of each file that differs, SKILL.md first."""
    for path in sorted({*old, *new}, key=_skill_md_first):
        before, after = old.get(path), new.get(path)
        notes = [_mode_note(before, after)]
        old_text, new_text = (row["text"] if row else "" for row in (before, after))
        diff: Difference | None = None
        kind = "changed" if before and after else "added" if after else "removed"
        is_separate = any(row and row["is_left_out"] for row in (before, after))
        if before and after and before["sha256"] == after["sha256"]:
            if not any(notes):
                continue
        elif is_separate:
            notes.append("The files are too long to be compared on one page.")
        elif old_text is None or new_text is None:
            notes.append("The catalog does not store the text of this file.")
        else:
            diff = difference(old_text, new_text, work)
            notes += _difference_notes(diff)
        yield FileChange(path, kind, (), " ".join(filter(None, notes)), is_separate), diff


def _skill_md_first(path: str) -> tuple[bool, str]:
    return path.lower() != "skill.md", path


def _size(compared: Sequence[Compared]) -> int:
    """Return the approximate memory of a comparison, in characters."""
    return 500 + sum(
        300 + sum(100 + len(line) for line in (*diff.old, *diff.new))
        for _, diff in compared
        if diff
    )


_COMPARISONS: ResultCache[list[Compared]] = ResultCache(16_000_000, _size)


def _mode_note(before: Row | None, after: Row | None) -> str:
    if not after or (before["mode"] if before else "644") == after["mode"]:
        return ""
    return f"The file is {'now' if after['mode'] == '755' else 'no longer'} executable."


def _difference_notes(diff: Difference) -> Iterator[str]:
    if diff.is_coarse:
        yield (
            "An exact comparison would take too long: moved lines may be shown as removed and "
            "added."
        )
    if not diff.groups:
        yield "Only the line end of the last line differs."


def _rows(diff: Difference) -> Iterator[DiffRow]:
    """Yield the lines of a difference, long lines in several rows."""
    for line in diff.lines():
        text = f"line {line.number}" if line.kind == "place" else line.text
        yield DiffRow(line.kind, text[:LONGEST_ROW])
        for start in range(LONGEST_ROW, len(text), LONGEST_ROW):
            yield DiffRow(line.kind, text[start : start + LONGEST_ROW], True)


def _versions(db: Catalog, skill_id: str, row: int | None) -> tuple[Row, list[Row]] | None:
    skill = browse.skill(db, skill_id, row)
    return (skill, browse.versions(db, skill["id"])) if skill else None


def _pair(db: Catalog, skill_id: str, name: str, against: str, only: str) -> Any:
    with one_moment(db):
        return _in_one_moment(db, skill_id, name, against, only)


def _in_one_moment(db: Catalog, skill_id: str, name: str, against: str, only: str) -> Any:
    version = browse.version(db, skill_id, name)
    result = _versions(db, skill_id, version["skill"]) if version else None
    if not version or not result:
        return None
    skill, versions = result
    names = [row["version"] for row in versions]
    if name not in names:
        return None
    index = names.index(name)
    other = names.index(against) if against in names else index + 1
    before = versions[other] if other < len(versions) else None
    old, new = changed_files(
        db, before["id"] if before else None, versions[index]["id"], only, room=COMPARED_CHARS
    )
    files = len(browse.files(db, versions[index]["id"]))
    return skill, versions[index] | {"files": files}, before, old, new


def changed_files(
    db: Catalog, before: int | None, version: int, only: str = "", *, room: int
) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the files that differ between two versions, by path, with up to `room` characters."""
    old, new = (
        {file["path"]: file for file in browse.files(db, id_)} if id_ else {}
        for id_ in (before, version)
    )
    changed = [
        path
        for path in {**old, **new}
        if not only or path == only
        if _content(old.get(path)) != _content(new.get(path))
    ]
    order = sorted(changed, key=_skill_md_first)
    _add_texts(db, order, [(before, old), (version, new)], only, room)
    return (
        {path: old[path] for path in changed if path in old},
        {path: new[path] for path in changed if path in new},
    )


def _add_texts(
    db: Catalog,
    paths: Sequence[str],
    sides: Sequence[tuple[int | None, dict[str, Row]]],
    only: str,
    room: int,
) -> None:
    """Add the texts of changed files, up to a limit unless one file alone is compared."""
    for path in paths:
        for version, files in sides:
            if file := files.get(path):
                is_left_out = room <= 0 and not only
                text = None if is_left_out or not version else browse.text(db, version, path)
                room -= len(text or "")
                files[path] = file | {"text": text, "is_left_out": is_left_out}


def _content(file: Row | None) -> Any:
    return file and (file["sha256"], file["mode"])

"""The versions of a skill, and what each changed."""

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
from catalog.site.pages.skill import which
from catalog.site.rendering.background import aside
from catalog.site.rendering.result_cache import ResultCache
from catalog.text.differences import Difference, Work, difference

LIST = r"^/skills/(?P<skill_id>[^/]+)/versions$"
ROUTE = r"^/skills/(?P<skill_id>[^/]+)/versions/(?P<version>[^/]+)$"

PAGE = 300_000
"""Characters of differences that a page shows, about; the next ones are a link away."""
ROW = 100
"""What a row counts beside its characters."""
LONGEST_ROW = 1_000
"""Characters of a line in one row; a longer line takes several."""
COMPARED_CHARS = 4_000_000
"""Characters of texts that one page compares; other files are compared one by one."""
LISTED = 200
"""Versions on a page of their list."""


class Shown(NamedTuple):
    """A row of the page: a line of a difference, or a part of one."""

    kind: str  # add, del, same, place
    text: str
    goes_on: bool = False  # whether it continues the row before it


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file between two versions."""

    path: str
    what: str  # added, removed, changed
    lines: tuple[Shown, ...] = ()
    note: str = ""
    alone: bool = False  # whether it is compared only where it alone is asked for
    elsewhere: bool = False  # whether all its rows are on other pages


Compared: TypeAlias = tuple[FileChange, Difference | None]


@dataclass(frozen=True, slots=True)
class Part:
    """The files that differ, with as many rows as one page shows."""

    changes: tuple[FileChange, ...]
    first: int  # rows before this page
    total: int  # rows on all pages

    @property
    def following(self) -> int | None:
        """The first row of the next page."""
        after = self.first + sum(len(change.lines) for change in self.changes)
        return after if after < self.total else None


async def listing(context: RequestContext) -> Response:
    """Show the versions of a skill, newest first."""
    skill_id, number = context.path_part("skill_id"), context.number("page") or 1
    found = await context.query(_versions, skill_id, context.number("row"))
    if not found:
        return context.not_found(f"No skill goes by {skill_id}, and none ever did.")
    skill, versions = found
    shown = versions[(number - 1) * LISTED : number * LISTED]
    return context.page(
        "versions.html",
        skill=skill,
        which=which(skill),
        total=len(versions),
        number=number,
        has_more=number * LISTED < len(versions),
        versions=[row | {"inventory": json.loads(row["file_inventory"])} for row in shown],
    )


async def page(context: RequestContext) -> Response:
    """Show what a version changed, against the one before it or the one asked for."""
    skill_id, name, only = (
        context.path_part("skill_id"),
        context.path_part("version"),
        context.parameter("file"),
    )
    found = await context.query(_pair, skill_id, name, context.parameter("against"), only)
    if not found:
        return context.not_found(f"{skill_id} has no version {name}.")
    skill, version, before, old, new = found
    first = context.number("from") or 0
    key = (before and before["digest"], version["digest"], only)
    part = await aside(
        lambda: take(_COMPARED.get(key, lambda: list(compare(old, new, Work()))), first),
        otherwise=lambda: take(compare(old, new, Work(0)), first),
    )
    return context.page(
        "diff.html",
        skill=skill,
        which=which(skill),
        version=version,
        before=before,
        part=part,
        only=only,
        against=context.parameter("against"),
        files=version["files"],
    )


def take(compared: Iterable[Compared], first: int = 0) -> Part:
    """Return the part of all differences that begins with a row, counted from 0.

    Each file that differs is on every page, SKILL.md first; its rows are on one, or on several.
    """
    changes, at, room = [], 0, PAGE
    for change, found in compared:
        shown: list[Shown] = []
        start = at
        for row in _rows(found) if found else ():
            if at >= first and room > 0:
                shown.append(row)
                room -= len(row.text) + ROW
            at += 1
        changes.append(replace(change, lines=tuple(shown), elsewhere=at > start and not shown))
    return Part(tuple(changes), min(first, at), at)


def compare(old: Mapping[str, Row], new: Mapping[str, Row], work: Work) -> Iterator[Compared]:
    """Yield what became of each file that is not the same in both."""
    for path in sorted({*old, *new}, key=lambda path: (path.lower() != "skill.md", path)):
        before, after = old.get(path), new.get(path)
        notes = [_of_mode(before, after)]
        text, becomes = (row["text"] if row else "" for row in (before, after))
        found: Difference | None = None
        what = "changed" if before and after else "added" if after else "removed"
        alone = any(row and row["is_left_out"] for row in (before, after))
        if before and after and before["sha256"] == after["sha256"]:
            if not any(notes):
                continue
        elif alone:
            notes.append("Together with the others it is too long to be compared.")
        elif text is None or becomes is None:
            notes.append("Its text is not kept in the catalog.")
        else:
            found = difference(text, becomes, work)
            notes += _of_difference(found)
        yield FileChange(path, what, (), " ".join(filter(None, notes)), alone), found


def _size(compared: Sequence[Compared]) -> int:
    """Return about the memory that differences take, in characters."""
    return 500 + sum(
        300 + sum(100 + len(line) for line in (*found.old, *found.new))
        for _, found in compared
        if found
    )


_COMPARED: ResultCache[list[Compared]] = ResultCache(16_000_000, _size)


def _of_mode(before: Row | None, after: Row | None) -> str:
    if not after or (before["mode"] if before else "644") == after["mode"]:
        return ""
    return f"It may {'now' if after['mode'] == '755' else 'no longer'} be executed."


def _of_difference(found: Difference) -> Iterator[str]:
    if found.is_coarse:
        yield (
            "To compare it exactly would take too long: lines that only moved may be shown as "
            "removed and added."
        )
    if not found.groups:
        yield "Only how its last line ends differs."


def _rows(found: Difference) -> Iterator[Shown]:
    """Yield the lines of a difference, long ones in several rows."""
    for line in found.lines():
        text = f"line {line.number}" if line.kind == "place" else line.text
        yield Shown(line.kind, text[:LONGEST_ROW])
        for at in range(LONGEST_ROW, len(text), LONGEST_ROW):
            yield Shown(line.kind, text[at : at + LONGEST_ROW], True)


def _versions(db: Catalog, skill_id: str, row: int | None) -> tuple[Row, list[Row]] | None:
    skill = browse.skill(db, skill_id, row)
    return (skill, browse.versions(db, skill["id"])) if skill else None


def _pair(db: Catalog, skill_id: str, name: str, against: str, only: str) -> Any:
    with one_moment(db):
        return _in_one_moment(db, skill_id, name, against, only)


def _in_one_moment(db: Catalog, skill_id: str, name: str, against: str, only: str) -> Any:
    version = browse.version(db, skill_id, name)
    found = _versions(db, skill_id, version["skill"]) if version else None
    if not version or not found:
        return None
    skill, versions = found
    names = [row["version"] for row in versions]
    if name not in names:
        return None
    at = names.index(name)
    other = names.index(against) if against in names else at + 1
    before = versions[other] if other < len(versions) else None
    old, new = (
        ({file["path"]: file for file in browse.files(db, row["id"])} if row else {})
        for row in (before, versions[at])
    )
    version = versions[at] | {"files": len(new)}
    differing = [
        path
        for path in {**old, **new}
        if not only or path == only
        if _content(old.get(path)) != _content(new.get(path))
    ]
    room = COMPARED_CHARS
    for path in sorted(differing, key=lambda path: (path.lower() != "skill.md", path)):
        for row, files in ((before, old), (versions[at], new)):
            if file := files.get(path):
                is_left_out = room <= 0 and not only
                text = None if is_left_out or not row else browse.text(db, row["id"], path)
                room -= len(text or "")
                files[path] = file | {"text": text, "is_left_out": is_left_out}
    return (
        skill,
        version,
        before,
        {path: old[path] for path in differing if path in old},
        {path: new[path] for path in differing if path in new},
    )


def _content(file: Row | None) -> Any:
    return file and (file["sha256"], file["mode"])

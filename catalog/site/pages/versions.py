"""The versions of a skill, and what each changed."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datasette.utils.asgi import Response

from catalog import browse
from catalog.browse import Catalog
from catalog.rows import Row
from catalog.site.pages.skill import which
from catalog.site.visit import Visit

LIST = r"^/skills/(?P<skill_id>[^/]+)/versions$"
ROUTE = r"^/skills/(?P<skill_id>[^/]+)/versions/(?P<version>[^/]+)$"

MOST_LINES = 3_000
"""Lines of one file's difference that the page shows."""
LONGEST_TEXT = 200_000
"""Characters of a text that is compared line by line; longer ones take too long."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file between two versions."""

    path: str
    what: str  # added, removed, changed
    lines: tuple[tuple[str, str], ...] = ()  # kind (add, del, same, place) and text
    note: str = ""


async def listing(visit: Visit) -> Response:
    """Show all versions of a skill."""
    skill_id = visit.part("skill_id")
    found = await visit.ask(_versions, skill_id, visit.number("row"))
    if not found:
        return visit.missing(f"No skill goes by {skill_id}, and none ever did.")
    skill, versions = found
    return visit.page("versions.html", skill=skill, which=which(skill), versions=[
        row | {"inventory": json.loads(row["file_inventory"])} for row in versions])


async def page(visit: Visit) -> Response:
    """Show what a version changed, against the one before it or the one asked for."""
    skill_id, name = visit.part("skill_id"), visit.part("version")
    found = await visit.ask(_pair, skill_id, name, visit.asked("against"))
    if not found:
        return visit.missing(f"{skill_id} has no version {name}.")
    skill, version, before, old, new = found
    return visit.page("diff.html", skill=skill, which=which(skill), version=version, before=before,
                      changes=list(compare(old, new)), files=new)


def compare(old: Mapping[str, Row], new: Mapping[str, Row]) -> Iterator[FileChange]:
    """Yield what became of each file that is not the same in both, SKILL.md first."""
    for path in sorted({*old, *new}, key=lambda path: (path.lower() != "skill.md", path)):
        before, after = old.get(path), new.get(path)
        notes = [_of_mode(before, after)]
        texts = [row["text"] if row else "" for row in (before, after)]
        lines: tuple[tuple[str, str], ...] = ()
        if before and after and before["sha256"] == after["sha256"]:
            if not any(notes):
                continue
        elif None in texts:
            notes.append("Its text is not kept in the catalog.")
        elif max(map(len, texts)) > LONGEST_TEXT:
            notes.append("It is too long to be compared here.")
        else:
            lines = tuple(_lines(*texts))[:MOST_LINES]
        what = "changed" if before and after else "added" if after else "removed"
        yield FileChange(path, what, lines, " ".join(filter(None, notes)))


def _of_mode(before: Row | None, after: Row | None) -> str:
    if not after or (before["mode"] if before else "644") == after["mode"]:
        return ""
    return f"It may {'now' if after['mode'] == '755' else 'no longer'} be executed."


def _lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    kinds = {"+": "add", "-": "del", " ": "same", "@": "place"}
    changed = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    for line in list(changed)[2:]:
        place = _PLACE.match(line)
        yield kinds[line[0]], f"line {place[1]}" if place else line[1:]


_PLACE = re.compile(r"@@ -\S+ \+(\d+)")


def _versions(db: Catalog, skill_id: str, row: int | None) -> tuple[Row, list[Row]] | None:
    skill = browse.skill(db, skill_id, row)
    return (skill, browse.versions(db, skill["id"])) if skill else None


def _pair(db: Catalog, skill_id: str, name: str, against: str) -> Any:
    version = browse.version(db, skill_id, name)
    found = _versions(db, skill_id, version["skill"]) if version else None
    if not version or not found:
        return None
    skill, versions = found
    names = [row["version"] for row in versions]
    other = names.index(against) if against in names else names.index(name) + 1
    before = versions[other] if other < len(versions) else None
    return (skill, version, before, browse.texts(db, before["id"]) if before else {},
            browse.texts(db, version["id"]))

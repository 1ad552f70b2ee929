"""The page of one file of a skill: its text with line numbers, and what was found in it."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from datasette.utils.asgi import Response

from catalog import browse, reader
from catalog.browse import Catalog
from catalog.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.rows import Row
from catalog.site import markdown
from catalog.site.pages.skill import which
from catalog.site.visit import Visit

ROUTE = r"^/skills/(?P<skill_id>[^/]+)/view/(?P<path>.+)$"

MOST_LINES = 5_000
"""Lines of a file that the page shows; the whole file is a link away."""
LONGEST_TEXT = 500_000
"""Bytes of a file that are read where the catalog does not keep its text."""
LONGEST_LINE = 4_000
"""Characters of a line that the page shows."""


@dataclass(frozen=True, slots=True)
class FileSheet:
    """A file of a skill with what was found in it."""

    skill: Row
    file: Row | None
    findings: list[Row]
    files: list[Row]


async def page(visit: Visit) -> Response:
    """Show a file, or what there is in its place."""
    skill_id, path = visit.part("skill_id"), visit.part("path")
    sheet = await visit.ask(_look_up, visit.place.packages, skill_id, visit.number("row"), path)
    if not sheet:
        return visit.missing(f"No skill goes by {skill_id}, and none ever did.")
    if not sheet.file:
        inside = [file for file in sheet.files if file["path"].startswith(path.rstrip("/") + "/")]
        if inside:
            return visit.page("folder.html", skill=sheet.skill, files=inside,
                              which=which(sheet.skill), folder=path.rstrip("/"))
        return visit.missing(f"{sheet.skill['name']} has no file {path}.")
    lines = (sheet.file["text"] or "").splitlines()
    beside: dict[int, list[Row]] = {}
    for found in sheet.findings:
        beside.setdefault(min(found["line"] or 0, MOST_LINES, len(lines)), []).append(found)
    return visit.page(
        "file.html", skill=sheet.skill, which=which(sheet.skill), file=sheet.file, beside=beside,
        total=len(lines), lines=[line[:LONGEST_LINE] for line in lines[:MOST_LINES]],
        files=sheet.files, is_picture=bool(markdown.PICTURES.search(path)))


def _look_up(db: Catalog, packages: Path, skill_id: str, row: int | None,
             path: str) -> FileSheet | None:
    skill = browse.skill(db, skill_id, row)
    if not skill:
        return None
    version = skill["current_version_id"]
    file = browse.file(db, version, path) if version else None
    if file and file["is_text"] and file["text"] is None and skill["status"] == "active":
        with suppress(NotInCatalog, PathRefused, PackageDamaged):
            file["text"] = reader.read_skill_file(
                db, packages, skill["name"], path, limit=LONGEST_TEXT).text
    findings = [found for found in browse.findings(db, skill["id"])
                if skill["is_newest"] and (found["path"] or skill["skill_md_name"]) == path]
    return FileSheet(skill, file, findings, browse.files(db, version) if version else [])

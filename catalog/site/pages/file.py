"""Page of one file of a skill: its text in parts, with line numbers and findings.

Each part has a limited number of bytes and lines; together the parts show the whole text.
"""

import asyncio
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from datasette import Response

from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading import browse, paging, skill_files
from catalog.reading import versions as reading_versions
from catalog.reading.browse import Catalog
from catalog.reading.paging import Page
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, row_query, without_disk_paths
from catalog.site.rendering import highlight, invisible
from catalog.site.rendering.links import PICTURES
from catalog.text.body import with_plain_line_ends
from catalog.text.suggestions import shown

MOST_LINES = 2_000
"""Most lines in a part."""
PART_BYTES = 100_000
"""Approximate bytes in a part."""
LONG_LINE = 300
"""Longest line, in characters, that is not wrapped to the width of the page."""


@dataclass(frozen=True, slots=True)
class FileSheet:
    """File of a skill with its findings."""

    skill: Row
    version: str | None  # the requested version; None for the current one
    file: Row | None
    part: Page | None  # part of its text; None for a file without text
    findings: list[Row]
    files: list[Row]
    versions: list[Row]


async def page(context: RequestContext) -> Response:
    """Show a part of a file, or the files of a folder."""
    skill_id, path = context.path_part("skill_id"), context.path_part("path")
    options = {
        "row": context.number("row"),
        "version": context.parameter("version"),
        "offset": context.number("from"),
        "line": context.number("line"),
    }
    sheet = await context.query(_sheet, context.location.packages, skill_id, path, options)
    if not sheet:
        return await missing.skill(context, skill_id)
    version = context.parameter("version")
    if version and not sheet.version:
        return context.not_found(f"{sheet.skill['name']} has no version {shown(version)}.")
    file = sheet.file
    if not file:
        return _folder(context, sheet, path)
    if not context.is_local:
        sheet = replace(sheet, findings=await context.query(without_disk_paths, sheet.findings))
    lines = part_lines(sheet.part) if sheet.part else []
    return context.page(
        "file.html",
        skill=sheet.skill,
        row_query=row_query(sheet.skill),
        file=file,
        part=sheet.part,
        version=sheet.version,
        versions=sheet.versions[:COMPARED_VERSIONS],
        lines=lines,
        highlighted=await _highlighted(file, sheet.part, lines),
        findings_by_line=_findings_by_line(sheet, len(lines)),
        files=sheet.files,
        long_line=LONG_LINE,
        part_bytes=PART_BYTES,
        is_picture=bool(PICTURES.search(path)),
    )


async def _highlighted(file: Row, part: Page | None, lines: list[str]) -> list[str] | None:
    """Return the lines of a whole file as HTML; None if they are shown without colours."""
    language = highlight.language_of(file["path"])
    if not part or part.offset or part.next_offset or not language:
        return None

    html = await asyncio.to_thread(highlight.lines, "\n".join(lines), language)
    return [invisible.in_html(line) for line in html] if html else None


def _folder(context: RequestContext, sheet: FileSheet, path: str) -> Response:
    """Show the files of a folder at a version."""
    folder = path.rstrip("/")
    files = [file for file in sheet.files if file["path"].startswith(f"{folder}/")]
    if not files:
        at = f" in version {sheet.version}" if sheet.version else ""
        near = [(f"Files of {sheet.skill['name']}", context.skill_path(sheet.skill["skill_id"]))]
        return context.not_found(f"{sheet.skill['name']} has no file {shown(path)}{at}.", near)
    return context.page(
        "folder.html",
        skill=sheet.skill,
        version=sheet.version,
        files=files,
        row_query=row_query(sheet.skill),
        folder=folder,
    )


def read_part(file: BinaryIO, size: int, offset: int = 0, line: int | None = None) -> Page:
    """Return the part of a text that starts at a byte offset, or that contains a line.

    A line of the first part is shown in that part; any other line starts its part.
    """
    if line:
        offset = paging.line_start(file, line)
        offset = 0 if line <= MOST_LINES and offset < PART_BYTES // 2 else offset
        file.seek(0)
    page = paging.read_page(file, min(offset, size), PART_BYTES, size)
    lines = page.text.split("\n", MOST_LINES)
    if len(lines) <= MOST_LINES or not lines[MOST_LINES]:
        return page
    text = "\n".join(lines[:MOST_LINES]) + "\n"
    bom = 3 if page.encoding == "utf-8-sig" and not page.offset else 0
    return replace(page, text=text, next_offset=page.offset + bom + len(text.encode()))


def part_lines(part: Page) -> list[str]:
    """Return the lines of a part; the first and the last line may be incomplete."""
    lines = part.text.removesuffix("\n").split("\n") if part.text else []
    return [line.removesuffix("\r") for line in lines]


def _findings_by_line(sheet: FileSheet, count: int) -> dict[int, list[Row]]:
    """Group the findings by shown line; 0 has those of the whole file or of other parts."""
    first = sheet.part.line if sheet.part else 1
    by_line: dict[int, list[Row]] = {}
    for finding in sheet.findings:
        line = finding["line"] or 0
        by_line.setdefault(line if first <= line < first + count else 0, []).append(finding)
    return by_line


def _sheet(
    db: Catalog, packages: Path, skill_id: str, path: str, options: Mapping[str, Any]
) -> FileSheet | None:
    skill = browse.skill(db, skill_id, options["row"])
    if not skill:
        return None
    version, name = skill["current_version_id"], None
    if options["version"]:
        row = reading_versions.named(db, skill_id, options["version"])
        if not row or row["skill"] != skill["id"]:
            return FileSheet(skill, None, None, None, [], [], [])
        version, name = row["id"], row["version"]
    file = reading_versions.file(db, version, path) if version else None
    is_newest = skill["is_newest"] and version == skill["current_version_id"]
    findings = [
        row
        for row in browse.findings(db, skill["id"])
        if is_newest and (row["path"] or skill["skill_md_name"]) == path
    ]
    return FileSheet(
        skill,
        name,
        file,
        _part(db, packages, skill, name, file, options),
        findings,
        list(reading_versions.files(db, version).values()),
        reading_versions.of_skill(db, skill["id"]),
    )


def _part(
    db: Catalog,
    packages: Path,
    skill: Row,
    version: str | None,
    file: Row | None,
    options: Mapping[str, Any],
) -> Page | None:
    """Read a part of a file from the catalog, or from the package of its version."""
    if not file or not file["is_text"]:
        return None
    offset, line = options["offset"] or 0, options["line"]
    if file["text"] is not None:
        data = with_plain_line_ends(file["text"]).encode("utf-8", "replace")
        return read_part(io.BytesIO(data), len(data), offset, line)
    if skill["status"] == "active":
        with (
            suppress(NotInCatalog, PathRefused, PackageDamaged),
            skill_files.open_skill_file(
                db, packages, skill["name"], file["path"], version=version or skill["version"]
            ) as (entry, content),
        ):
            return read_part(content, entry.size, offset, line)
    return None

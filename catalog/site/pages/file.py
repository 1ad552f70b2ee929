"""Page of one file of a skill: its text in parts, with line numbers and findings.

Each part has a limited number of bytes and lines; together the parts show the whole text.
"""

import asyncio
import io
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading import disk_paths
from catalog.reading.files import paging, skill_files
from catalog.reading.files.paging import Page
from catalog.reading.files.published import find_file, package_of
from catalog.reading.findings import finding_lists
from catalog.reading.skills import skill_facts
from catalog.reading.skills import versions as reading_versions
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, grow, row_query, shortened
from catalog.site.rendering import formatting, highlight
from catalog.site.rendering.links import PICTURES
from catalog.text.suggestions import shown
from catalog.text.visible import with_plain_line_ends

MOST_LINES = 2_000
"""Most lines in a part."""
PART_BYTES = 100_000
"""Approximate bytes in a part."""


async def page(context: RequestContext) -> Response:
    """Show a part of a file, or the files of a folder."""
    skill_id, path = context.path_part("skill_id"), context.path_part("path")
    options = {
        "row": context.number("row"),
        "version": context.parameter("version"),
        "offset": context.number("from") or 0,
        "line": context.number("line"),
    }
    values = await context.query(_look_up, context.location.packages, skill_id, path, **options)
    if isinstance(values, str):
        return context.not_found(values)
    if not values:
        return await missing.skill(context, skill_id)
    file, part, findings = values["file"], values.pop("part"), values.pop("findings")
    if not file:
        return _folder(context, values, path)
    if not context.is_local:
        findings = shortened(findings, await context.query(disk_paths.disk_folders))
    lines = part_lines(part) if part else []
    by_line: dict[int, list[Row]] = {}  # of the part; 0 has those of the whole file or of others
    for finding in findings:
        number, first = finding["line"] or 0, part.line if part else 1
        shown_at = number if first <= number < first + len(lines) else 0
        by_line.setdefault(shown_at, []).append(finding)
    return context.page(
        "file.html",
        part=part,
        lines=lines,
        highlighted=await _highlighted(file, part, lines),
        findings_by_line=by_line,
        tree=list(grow(values["files"])),
        part_bytes=PART_BYTES,
        is_picture=bool(PICTURES.search(path)),
        **values,
    )


async def _highlighted(file: Row, part: Page | None, lines: list[str]) -> list[str] | None:
    """Return the lines of a whole file as HTML; None if they are shown without colours."""
    language = highlight.language_of(file["path"])
    if not part or part.offset or part.next_offset or not language:
        return None

    html = await asyncio.to_thread(highlight.lines, "\n".join(lines), language)
    return [formatting.in_html(line) for line in html] if html else None


def _folder(context: RequestContext, values: dict[str, Any], path: str) -> Response:
    """Show the files of a folder at a version."""
    folder, skill, version = path.rstrip("/"), values["skill"], values["version"]
    files = [file for file in values["files"] if file["path"].startswith(f"{folder}/")]
    if not files:
        at = f" in version {version}" if version else ""
        near = [(f"Files of {skill['name']}", context.skill_path(skill["skill_id"]))]
        return context.not_found(f"{skill['name']} has no file {shown(path)}{at}.", near)
    return context.page("folder.html", folder=folder, **values | {"files": files})


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


def _look_up(
    db: Database,
    packages: Path,
    skill_id: str,
    path: str,
    *,
    row: int | None,
    version: str,
    offset: int,
    line: int | None,
) -> dict[str, Any] | str | None:
    """Return a file for the page; a sentence if the version is unknown, None if the skill is."""
    skill = skill_facts.skill(db, skill_id, row)
    if not skill:
        return None
    id_, name = skill["current_version_id"], None  # the name of the requested version
    if version:
        found = reading_versions.named(db, skill_id, version)
        if not found or found["skill"] != skill["id"]:
            return f"{skill['name']} has no version {shown(version)}."
        id_, name = found["id"], found["version"]
    file = reading_versions.file(db, id_, path) if id_ else None
    is_newest = skill["is_newest"] and id_ == skill["current_version_id"]
    return {
        "skill": skill,
        "row_query": row_query(skill),
        "version": name,
        "file": file,
        "part": _part(db, packages, skill, name, file, offset, line)
        if file and file["is_text"]
        else None,
        "findings": [
            finding
            for finding in finding_lists.findings(db, skill["id"])
            if is_newest and (finding["path"] or skill["skill_md_name"]) == path
        ],
        "files": list(reading_versions.files(db, id_).values()),
        "versions": reading_versions.of_skill(db, skill["id"])[:COMPARED_VERSIONS],
    }


def _part(
    db: Database,
    packages: Path,
    skill: Row,
    version: str | None,
    file: Row,
    offset: int,
    line: int | None,
) -> Page | None:
    """Read a part of a file from the catalog, or from the package of its version."""
    if file["text"] is not None:
        data = with_plain_line_ends(file["text"]).encode("utf-8", "replace")
        return read_part(io.BytesIO(data), len(data), offset, line)
    if skill["status"] in ("active", "removed"):
        with suppress(NotInCatalog, PathRefused, PackageDamaged):
            package = package_of(db, packages, skill["name"], version or skill["version"])
            entry = find_file(package, file["path"])
            with skill_files.opened(package, entry) as content:
                return read_part(content, entry.size, offset, line)
    return None

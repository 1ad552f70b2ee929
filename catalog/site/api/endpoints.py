"""Endpoints for programs: search, preview, indexes and health."""

import json
import sqlite3
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datasette.utils.asgi import Response

from catalog.database import health
from catalog.prompt_index.formats import FORMATS
from catalog.reading import health as reading_health
from catalog.reading import search
from catalog.site.api import files as api_files
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.site.pages import skill as skill_page
from catalog.site.rendering import assets

SEARCH = r"^/search\.json$"
PREVIEW = r"^/skills/(?P<skill_id>[^/]+)/preview$"
INDEX = r"^/index/(?P<name>[^/]+)$"
HEALTH = r"^/-/healthz$"

MOST_HITS = 100
_REPORT = ".meta.json"
_TYPES = {
    ".xml": "application/xml; charset=utf-8",
    ".json": responses.JSON,
    ".md": "text/markdown; charset=utf-8",
}


async def asset(context: RequestContext) -> Response:
    """Give a style sheet, the script or the sign."""
    name = context.path_part("name")
    if name not in assets.names():
        return responses.of_text(
            context.request, "There is no such file.\n", responses.TEXT, status=404
        )
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return responses.of_bytes(
        context.request,
        assets.read(name),
        assets.content_type(name),
        etag=assets.integrity(name),
        headers=headers if context.request.query_string else None,
    )


async def hits(context: RequestContext) -> Response:
    """Give what a search finds, best first, as the command line does.

    A header says so where not all words were searched for.
    """
    words, left_out = search.bounded(context.parameter("q"))
    found = await context.query(search.find, words, min(context.number("limit") or 20, MOST_HITS))
    return responses.of_json(
        context.request,
        [asdict(hit) | {"url": context.skill_path(hit.skill_id)} for hit in found],
        headers={"X-Search-Note": left_out} if left_out else None,
    )


async def preview(context: RequestContext) -> Response:
    """Give a skill as JSON: its content, what it consists of and what was found."""
    skill_id = context.path_part("skill_id")
    version = context.parameter("version")
    sheet = await context.query(skill_page.look_up, skill_id, context.number("row"), version)
    if not sheet:
        return _nothing(
            context,
            f"No skill goes by {skill_id}, or it has no version {version}."
            if version
            else f"No skill goes by {skill_id}.",
        )
    skill = sheet.skill
    plain = (
        "skill_id",
        "name",
        "display_name",
        "description",
        "status",
        "status_reason",
        "level",
        "plugin",
        "root",
        "path",
        "author",
        "license",
        "compatibility",
        "allowed_tools",
        "version",
        "digest",
        "skill_md_hash",
        "package_path",
        "first_seen",
        "last_changed",
    )
    files = context.skill_path(skill["skill_id"], "/files/")
    of_version = f"?version={skill['version']}" if version else ""
    return responses.of_json(
        context.request,
        {
            **{name: skill[name] for name in plain},
            "spec_valid": bool(skill["spec_valid"]),
            "tags": json.loads(skill["tags"]),
            "frontmatter": json.loads(skill["frontmatter"]),
            "fileInventory": json.loads(skill["file_inventory"]),
            "skill_md_content": skill["skill_md_content"],
            "files": [
                file
                | {"is_text": bool(file["is_text"]), "url": f"{files}{file['path']}{of_version}"}
                for file in sheet.files
            ],
            "findings": [
                {
                    name: found[name]
                    for name in (
                        "code",
                        "severity",
                        "profile",
                        "field",
                        "path",
                        "line",
                        "message",
                        "fix",
                    )
                }
                for found in sheet.findings
                if skill["is_newest"] or not version
            ],
            "versions": [row["version"] for row in sheet.versions],
            "indexes": [
                {"name": row["name"], "rank": row["rank"], "state": row["state"] or row["left_out"]}
                for row in sheet.indexes
            ],
        },
        headers={api_files.VERSION: skill["version"] or ""},
    )


async def index(context: RequestContext) -> Response:
    """Give a prompt index, or the report on it, as it was published."""
    name = context.path_part("name")
    file = _published(context.location.indexes, name)
    if not file:
        return _nothing(context, f"There is no index {name}.")
    try:
        status = file.stat()
        body = file.read_bytes()
    except OSError:
        return _nothing(context, f"There is no index {name} at present.")
    return responses.of_bytes(
        context.request,
        body,
        _TYPES.get(file.suffix, responses.TEXT),
        etag=f"{status.st_mtime_ns:x}-{status.st_size:x}",
        modified=datetime.fromtimestamp(status.st_mtime, UTC),
    )


async def healthz(context: RequestContext) -> Response:
    """Say whether all is well: 200 or 503, with the reasons for those who may see the catalog."""
    try:
        found = await context.query(health.look, context.location.catalog)
    except sqlite3.DatabaseError as error:  # damaged while it is served
        row, status = None, _unreadable(error, context.location.catalog)
    else:
        row, status = found["health"], reading_health.health(found, datetime.now(UTC))
    answer: dict[str, Any] = {"status": "ok" if status.is_well else "failing"}
    may_see, _ = await context.datasette.check_visibility(
        context.request.actor,
        permissions=[("view-database", context.location.database.name), "view-instance"],
    )
    if may_see:
        answer |= {"message": status.sentence, "health": row, "troubles": status.troubles}
    return responses.of_json(
        context.request,
        answer,
        status=200 if status.is_well else 503,
        headers={"Cache-Control": "no-store"},
    )


def _unreadable(error: sqlite3.DatabaseError, catalog: Path) -> reading_health.Health:
    """Return the health of a catalog that cannot be read, with what the file beside it tells."""
    sentence = f"The catalog cannot be read: {error}."
    return reading_health.Health(
        "bad", sentence, troubles=tuple(health.read_file(catalog).get("troubles", ()))
    )


def _published(folder: Path, name: str) -> Path | None:
    """Return the published file that a name means; nothing outside the folder is one."""
    if "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        return None
    endings = {form.ending for form in FORMATS.values()}
    if name.endswith((_REPORT, *endings)) and (folder / name).is_file():
        return folder / name
    return next(
        (file for ending in sorted(endings) if (file := folder / f"{name}{ending}").is_file()), None
    )


def _nothing(context: RequestContext, why: str) -> Response:
    return responses.of_json(
        context.request, {"ok": False, "error": why, "status": 404}, status=404
    )

"""Skills for programs: the results of a search, and one skill as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from datasette import Response

from catalog.database.queries import Row
from catalog.model.errors import FilterInvalid, NotInCatalog
from catalog.model.fields import COLUMNS
from catalog.prompt_index import locations
from catalog.reading.search import skill_lists, word_search
from catalog.reading.search.filters import BY_NAME
from catalog.reading.search.hits import Hit
from catalog.reading.skills import skill_facts
from catalog.site.api import files as api_files
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.site.pages import skill as skill_page
from catalog.site.pages import skills as skills_page
from catalog.text import suggestions
from catalog.text.suggestions import shown

MOST_HITS = 100
_STATE_FIELDS = (
    "skill_id",
    "status",
    "status_reason",
    "level",
    "source",
    "plugin",
    "root",
    "path",
    "version",
    "digest",
    "skill_md_hash",
    "package_path",
    "first_seen",
    "last_changed",
)
_FLAGS = tuple(name for name, column in COLUMNS.items() if column.kind in (bool, bool | None))
_FINDING_FIELDS = ("code", "severity", "profile", "field", "path", "line", "message", "fix")


async def hits(context: RequestContext) -> Response:
    """Return the results of a search, best match first, as the command line does.

    The header X-Search-Note reports words and filters without a match, and X-Next-Offset the
    offset of the next page.
    """
    try:
        _refuse_unknown(context)
        filters = skills_page.filters_of(context)
        sort = skill_lists.parse_sort(context.parameter("sort"))
        limit = _number(context, "limit", 20, range(1, MOST_HITS + 1))
        offset = _number(context, "offset", 0, range(10**9))
    except FilterInvalid as error:
        return responses.of_error(str(error), 400)
    results = await context.query(
        word_search.search,
        context.parameter("q"),
        limit,
        offset=offset,
        filters=filters,
        is_typing=context.parameter("typing") == "1",
        sort=sort,
    )
    headers = {
        "X-Search-Note": results.note.encode("ascii", "backslashreplace").decode(),
        "X-Next-Offset": str(results.next_offset or ""),
    }
    return responses.of_json(
        context.request,
        [_as_json(context, hit) for hit in results.hits],
        headers={name: value for name, value in headers.items() if value} or None,
    )


def _refuse_unknown(context: RequestContext) -> None:
    """Raise FilterInvalid for a parameter that no search has."""
    known = ["q", "sort", "typing", "limit", "offset", *BY_NAME]
    if unknown := next((name for name in context.request.args if name not in known), None):
        raise FilterInvalid(
            f"There is no parameter {shown(unknown)}; q has the words of a search. "
            f"{suggestions.known(unknown, known)}"
        )


def _number(context: RequestContext, name: str, usual: int, possible: range) -> int:
    """Return a parameter that is a number of a range. Raises FilterInvalid."""
    text = context.parameter(name).strip()
    if not text:
        return usual
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) in possible:
        return int(text)
    raise FilterInvalid(
        f"The {name} cannot be {shown(text)}; it is a number from {possible[0]} to"
        f" {possible[-1]:,}."
    )


def _as_json(context: RequestContext, hit: Hit) -> dict[str, Any]:
    """Return a hit with its page, and the URL of its SKILL.md or, if not active, of its page.

    The others of its name have the URLs of their pages.
    """
    page = context.skill_path(hit.skill_id)
    others = [context.url(f"{page}?row={row}") for row in hit.others.rows]
    found: dict[str, Any] = {name: getattr(hit, name) for name in Hit.__slots__}
    found["others"] = {"count": hit.others.count, "first": others}
    if hit.status != "active":
        page += f"?row={hit.id}"
        return found | {"url": page, "location": context.url(page)}
    skills, name = context.url(context.path(locations.SITE)), hit.location.rpartition("/")[2]
    return found | {"url": page, "location": locations.on_site(hit.skill_id, name, skills)}


async def preview(context: RequestContext) -> Response:
    """Return a skill as JSON: its content, files, findings, versions and indexes."""
    skill_id = context.path_part("skill_id")
    version = context.parameter("version")
    try:
        sheet = await context.query(skill_page.look_up, skill_id, context.number("row"), version)
    except NotInCatalog as error:
        return responses.of_error(str(error), 404)
    if not sheet:
        why = f"No skill has the identifier {skill_id}"
        why += f", or it has no version {version}." if version else "."
        return responses.of_error(why, 404)
    skill = sheet.skill
    folders = sheet.folders
    definition = await context.query(skill_facts.definition, skill["id"])
    if skill["version"]:
        context.count_skill(skill["skill_id"], skill["version"])
    return responses.of_json(
        context.request,
        definition
        | _described(skill_page.shortened([skill], folders)[0])
        | {"files": _files(context, sheet), "left_out_files": sheet.left_out}
        | {"findings": _findings(sheet, folders) if skill["is_newest"] or not version else []}
        | sheet.references.as_json()
        | {
            "versions": [row["version"] for row in sheet.versions],
            "indexes": [
                {"name": row["name"], "rank": row["rank"], "state": row["state"] or row["left_out"]}
                for row in sheet.indexes
            ],
        },
        headers={api_files.VERSION: skill["version"] or ""},
    )


_LISTS = tuple(name for name, column in COLUMNS.items() if column.kind is tuple)


def _described(skill: Row) -> dict[str, Any]:
    """Return the state and the content of a skill."""
    return {
        **{name: skill[name] for name in (*_STATE_FIELDS, *COLUMNS) if name != "grams"},
        **{name: bool(skill[name]) for name in _FLAGS},
        **{name: json.loads(skill[name]) for name in _LISTS},
        "frontmatter": json.loads(skill["frontmatter"]),
        "fileInventory": json.loads(skill["file_inventory"]),
        "skill_md_content": skill["skill_md_content"],
    }


def _files(context: RequestContext, sheet: skill_page.Sheet) -> list[Row]:
    """Return the files of a skill with URLs of its version, whose bytes have the hash beside."""
    skill = sheet.skill
    folder = f"/versions/{skill['version']}/files/"
    return [
        file
        | {
            "is_text": bool(file["is_text"]),
            "url": context.skill_path(skill["skill_id"], folder + file["path"]),
        }
        for file in sheet.files
    ]


def _findings(sheet: skill_page.Sheet, folders: Sequence[str]) -> list[Row]:
    """Return the findings of a skill."""
    return [
        {name: finding[name] for name in _FINDING_FIELDS}
        for finding in skill_page.shortened(sheet.findings, folders)
    ]

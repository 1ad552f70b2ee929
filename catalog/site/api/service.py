"""The site about itself for programs: health, newest change, description of the API, and assets."""

import sqlite3
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from datasette import Response

from catalog.model.fields import COLUMNS
from catalog.model.values import VERSION
from catalog.reading import activity, disk_paths, service_health
from catalog.reading.search.filters import FILTERS, Filter
from catalog.site.http import access, responses
from catalog.site.http.request import RequestContext, header_health
from catalog.site.rendering import assets

OF_SKILL = "skill:"
"""Beginning of the parameter `about` for one skill; its skill_id follows."""


async def healthz(context: RequestContext) -> Response:
    """Return 200 if the catalog is served, else 503; with the reasons if the visitor may see it."""
    folders = [str(context.location.catalog.absolute().parent)]
    try:
        overview = await context.query(service_health.load)
        folders += await context.query(disk_paths.disk_folders)
    except sqlite3.DatabaseError as error:  # damaged while it is served
        sentence = f"The catalog cannot be read: {error}."
        row, status = None, service_health.Health("bad", sentence)
    else:
        row, status = overview["health"], service_health.summary(overview, datetime.now(UTC))
    body: dict[str, Any] = {
        "status": "ok" if row else "failing",
        "needs_attention": not status.is_well,
    }
    if await context.may_see() and not access.is_anonymous(context.request.scope):
        troubles = [
            trouble | {"message": disk_paths.shortened_paths(trouble["message"], folders)}
            for trouble in map(dict, status.troubles)
        ]
        shown = row and {key: value for key, value in row.items() if key != "packages_folder"}
        body |= {"message": status.sentence, "health": shown, "troubles": troubles}
    return responses.of_json(
        context.request,
        body,
        status=200 if row else 503,
        headers={"Cache-Control": "no-store"},
    )


async def state(context: RequestContext) -> Response:
    """Return the id of the newest change of the catalog, with its health, or of a skill.

    Open pages ask for it, mostly for a 304. A stream would take one of the site's few connections
    for each open page, and proxies cut it.
    """
    facts: dict[str, int | str]
    about = context.parameter("about")
    if about.startswith(OF_SKILL):
        skill_id = about.removeprefix(OF_SKILL)
        facts = {"newest_change": await context.query(activity.newest_change, skill_id)}
    elif about:
        return responses.of_error(f"The parameter about is {OF_SKILL}ID, or is left out.", 400)
    else:
        health = await header_health(context.datasette, context.location)
        facts = {
            "newest_change": health.newest_change if health else 0,
            "health": health.tone if health else "bad",
        }
    etag = "-".join(map(str, facts.values()))
    return responses.of_json(context.request, facts, etag=etag)


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document without the address of a site; it must not be changed."""
    text = Path(__file__).with_name("openapi.yml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    search = loaded["paths"]["/search.json"]["get"]
    place = search["parameters"].index("filters")
    search["parameters"][place : place + 1] = map(_parameter, FILTERS)
    skill = loaded["components"]["schemas"]["Skill"]
    skill["properties"] = {
        name: {"type": column.json_type, "description": _lower(column.meaning)}
        | ({"items": {"type": "string"}} if column.kind is tuple else {})
        for name, column in COLUMNS.items()
        if name != "grams"
    } | skill["properties"]
    return loaded | {"info": loaded["info"] | {"version": VERSION}}


def _parameter(filter_: Filter) -> dict[str, Any]:
    """Return the parameter of a filter, which may come several times unless it has one value."""
    value: dict[str, Any] = {"enum": list(filter_.possible)}
    if filter_.kind in ("text", "time"):
        value = {"type": "string"}
    schema = value if filter_.is_single else {"type": "array", "items": value}
    usual = f" By default: {', '.join(filter_.usual)}." if filter_.usual else ""
    description = filter_.sentence + usual
    return {"name": filter_.name, "in": "query", "schema": schema, "description": description}


def _lower(text: str) -> str:
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


async def openapi(context: RequestContext) -> Response:
    """Return the OpenAPI document of this site."""
    server = context.url(context.path("/")).rstrip("/")
    return responses.of_json(context.request, document() | {"servers": [{"url": server}]})


async def asset(context: RequestContext) -> Response:
    """Return a style sheet, a script or the logo."""
    return _asset(context, context.path_part("name"))


async def robots(context: RequestContext) -> Response:
    """Tell crawlers to read the pages, and not each table, search by a program and comparison."""
    kept = ("catalog", "search.json", "skills/*/versions/compare")
    lines = ["User-agent: *", *(f"Disallow: {context.path('/')}{path}" for path in kept)]
    return responses.of_text(context.request, "\n".join(lines) + "\n", responses.TEXT)


async def favicon(context: RequestContext) -> Response:
    """Return the icon for clients that ask for it at its usual address."""
    return _asset(context, "drop.png")


def _asset(context: RequestContext, name: str) -> Response:
    if name not in assets.names():
        return responses.of_text(context.request, "Not found.\n", responses.TEXT, status=404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return responses.of_bytes(
        context.request,
        assets.read(name),
        assets.content_type(name),
        etag=assets.integrity(name),
        headers=headers if context.request.query_string else None,
    )

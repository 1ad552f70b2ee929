"""Datasette's hooks: routes, headers, menus, and cells in readable form."""

import sqlite3
from typing import Any

from datasette import handle_exception as handle_exception_module
from datasette.utils.asgi import Response
from pluggy import HookimplMarker

from catalog.database import connection
from catalog.database.connection import is_damage
from catalog.site.api import (
    discovery,
    endpoints,
    feeds,
    files,
    metrics,
    neighbours,
    openapi,
    opensearch,
    state,
    view_json,
)
from catalog.site.api import indexes as prompt_indexes
from catalog.site.http import (
    canonical_path,
    checks,
    default_columns,
    errors,
    header_health,
    host_names,
    page_cache,
    query_limits,
    read_only,
    reader_tokens,
    security_headers,
    table_slots,
)
from catalog.site.http import location as http_catalog
from catalog.site.http import request as http_request
from catalog.site.pages import (
    activity,
    duplicates,
    file,
    findings,
    health,
    home,
    indexes,
    missing,
    questions,
    review,
    skill,
    skills,
    usage,
    version_list,
    versions,
)
from catalog.site.rendering import assets, cells, invisible, templates
from catalog.usage import database as usage_database

hookimpl = HookimplMarker("datasette")

# rich would print local variables into the log, among them the token of a reader, and it turns the
# answer to an unknown path into an error 500.
handle_exception_module.rich = None

_ROUTES = {
    home.ROUTE: home.page,
    skills.ROUTE: skills.page,
    endpoints.SKILL_JSON: endpoints.preview,
    skill.ROUTE: endpoints.skill,
    file.ROUTE: file.page,
    version_list.LIST: version_list.listing,
    version_list.COMPARE: version_list.compare,
    versions.ROUTE: versions.page,
    findings.LIST: findings.listing,
    findings.NOT_SKILLS: findings.not_skills,
    findings.ROUTE: findings.page,
    indexes.LIST: indexes.listing,
    indexes.ROUTE: indexes.page,
    indexes.HISTORY: indexes.history,
    indexes.TEXT: indexes.text,
    indexes.CHANGES: indexes.changes,
    activity.ROUTE: activity.page,
    feeds.ROUTE: feeds.of_all,
    feeds.OF_SKILL: feeds.of_skill,
    review.ROUTE: review.page,
    usage.ROUTE: usage.page,
    health.ROUTE: health.page,
    questions.LIST: questions.listing,
    questions.ROUTE: questions.page,
    duplicates.ROUTE: duplicates.page,
    endpoints.SEARCH: endpoints.hits,
    endpoints.PREVIEW: endpoints.preview,
    prompt_indexes.ROUTE: prompt_indexes.page,
    discovery.ROUTE: discovery.page,
    discovery.BY_FILES: discovery.by_files,
    discovery.FILES: discovery.file,
    files.LIST: files.listing,
    files.ROUTE: files.page,
    files.OF_VERSION: files.page,
    files.BUNDLE: files.archive,
    metrics.ROUTE: metrics.page,
    state.ROUTE: state.page,
    openapi.ROUTE: openapi.page,
    opensearch.ROUTE: opensearch.page,
    files.BUNDLE_OF_VERSION: files.archive,
    neighbours.ROUTE: neighbours.page,  # last: it matches the paths below a skill of all others
}
_OPEN = {
    assets.ROUTE: endpoints.asset,
    endpoints.FAVICON: endpoints.favicon,
    endpoints.HEALTH: endpoints.healthz,
}
_INTERNAL = (
    r"^/-/(metadata|versions|plugins|settings|config|threads|databases|actor|auth-token|"
    r"logout|permissions|messages|allow-debug|patterns)(\.json)?/?$"
)
"""Datasette's pages about its files, threads and settings, which only the operator needs."""


@hookimpl
def register_routes(datasette: Any) -> list[tuple[str, Any]]:
    """Register the site's routes if one of the databases is a catalog."""
    if not http_catalog.find(datasette):
        return []
    internal = (
        [] if http_catalog.setting(datasette, "inner_pages", False) else [(_INTERNAL, _not_public)]
    )
    return (
        internal
        + [(route, http_request.guarded(view)) for route, view in _ROUTES.items()]
        + [(route, http_request.guarded(view, is_open=True)) for route, view in _OPEN.items()]
    )


@hookimpl
def asgi_wrapper(datasette: Any) -> Any:
    """Put checks, limits and security headers around Datasette and its responses."""
    if not http_catalog.find(datasette):
        return _unchanged
    names = host_names.check(http_catalog.setting(datasette, "names", ()))
    request_checks = [
        canonical_path.check(datasette),  # first: the others judge the text of the path
        query_limits.check(datasette),
        read_only.check(datasette, [*_ROUTES, *_OPEN]),
    ]

    def wrapped(app: security_headers.App) -> security_headers.App:
        app = table_slots.wrap(default_columns.wrap(app, datasette), datasette)
        app = page_cache.wrap(app, datasette)
        app = checks.wrap(app, datasette, request_checks)
        app = reader_tokens.wrap(app, datasette)
        return security_headers.wrap(checks.wrap(app, datasette, [names]))

    return wrapped


@hookimpl
def permission_allowed(datasette: Any, action: str, resource: Any) -> bool | None:
    """Refuse SQL from visitors unless the metadata allows it."""
    if action != "execute-sql" or not http_catalog.find(datasette):
        return None
    settings = (datasette.metadata("allow_sql", database=resource), datasette.metadata("allow_sql"))
    return False if settings == (None, None) else None


@hookimpl
def prepare_connection(conn: sqlite3.Connection, database: str, datasette: Any) -> None:
    """Limit the resources of each SQL statement; give it the functions and reads it may use."""
    location = http_catalog.find(datasette)
    is_catalog = location and location.database.name == database
    if location and is_catalog and http_catalog.setting(datasette, "usage", True):
        usage_database.attach(conn, location.catalog)
    connection.apply_limits(conn)


@hookimpl
def forbidden(datasette: Any, request: Any, message: str) -> Response | None:
    """Return a refusal as JSON on a JSON route."""
    if not _is_json_route(datasette, request):
        return None
    return errors.as_json(
        "This site does not run SQL from visitors."
        if message == "execute-sql"
        else f"Forbidden: {message}.",
        403,
    )


@hookimpl
def handle_exception(datasette: Any, request: Any, exception: Exception) -> Any:
    """Return an error as JSON on a JSON route, and correct its status for Datasette's own page."""

    async def respond() -> Response | None:
        if location := http_catalog.find(datasette):
            path, cause = http_catalog.below(datasette, request.path), exception
            try:
                await errors.correct_status(exception, location.database, path)
            except sqlite3.DatabaseError as error:
                cause = error
            if is_damage(cause):
                context = http_request.RequestContext(datasette, request, location)
                return http_request.damaged(context, cause)
        if _is_json_route(datasette, request):
            return errors.of_exception(exception)
        if location and path is None and getattr(exception, "status", 500) == 404:
            return await missing.page(http_request.RequestContext(datasette, request, location))
        return None

    return respond


@hookimpl
def prepare_jinja2_environment(env: Any, datasette: Any) -> None:
    """Give Datasette's own pages the layout and the cells of the site."""
    if http_catalog.find(datasette):
        env.globals |= templates.ASSETS | {"table_rows": cells.rows, "cell_html": cells.as_html}
        env.finalize = invisible.plain
        templates.put_before(env)


@hookimpl
def extra_template_vars(request: Any, datasette: Any) -> Any:
    """Give the header of Datasette's own pages the health, for visitors who may see the catalog."""

    async def variables() -> dict[str, Any]:
        location = http_catalog.find(datasette)
        if not location or not request:
            return {}
        may_see, _ = await datasette.check_visibility(
            request.actor,
            permissions=[("view-database", location.database.name), "view-instance"],
        )
        return {"header_health": await header_health.current(location) if may_see else None}

    return variables


@hookimpl
def register_output_renderer(datasette: Any) -> dict[str, Any]:
    """Render JSON in place of Datasette, so that values of the views have their types."""
    return {"extension": "json", "render": view_json.render}


@hookimpl
def render_cell(value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    """Render a cell of the catalog in readable form; None leaves it to Datasette."""
    if not cells.concerns(value, column):
        return None
    location = http_catalog.find(datasette)
    if not location or location.database.name != database:
        return None
    if cells.needs_look_up(column, table):
        return cells.skill_id(value, location.database, datasette)
    return cells.render(value, column, table, database, datasette)


def _is_json_route(datasette: Any, request: Any) -> bool:
    return bool(http_catalog.find(datasette)) and errors.is_json_route(datasette, request.path)


async def _not_public(datasette: Any, request: Any) -> Response:
    return errors.refusal(datasette, request.path, "This page is not public.", 404)


def _unchanged(app: Any) -> Any:
    return app

"""Datasette's hooks: routes, limits, access, headers, and readable cells and tables."""

import re
import sqlite3
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from datasette import Response
from datasette.plugins import pm
from pluggy import HookimplMarker

from catalog.database import connection
from catalog.database.connection import is_damage
from catalog.site.api import discovery, feeds, files, metrics, pulls, reports, service
from catalog.site.api import indexes as prompt_indexes
from catalog.site.api import skills as api_skills
from catalog.site.http import access, limits, responses, security_headers
from catalog.site.http import location as http_location
from catalog.site.http import request as http_request
from catalog.site.http.security_headers import App, Message, Send
from catalog.site.pages import (
    file,
    findings,
    indexes,
    missing,
    overview,
    questions,
    skill,
    skills,
    sources,
    versions,
)
from catalog.site.rendering import cells, formatting, templates
from catalog.usage import database as usage_database

hookimpl = HookimplMarker("datasette")


class Route(NamedTuple):
    """Pattern of a path with the view that answers it."""

    pattern: str
    view: http_request.View
    cost: limits.Cost | None = limits.PAGES  # None where it takes a turn itself, or needs none
    is_open: bool = False  # whether it is public, whatever the configuration allows
    post: http_request.View | None = None  # answers POST, if the setting `reports` allows it


_SKILL = r"/skills/(?P<skill_id>[^/]+)"
_VERSION = rf"{_SKILL}/versions/(?P<version>[^/]+)"
_INDEX = r"/indexes/(?P<name>[^/]+)"
_WELL_KNOWN = r"(?:/skills(?:/(?P<skill_id>[^/]+))?)?/\.well-known"

ROUTES = (
    Route(r"/", overview.home, cost=None),
    Route(r"/skills/?", skills.page, limits.SEARCHES),
    Route(rf"{_SKILL}\.json", api_skills.preview),
    Route(_SKILL, skill.page, limits.TEXTS),
    Route(rf"{_SKILL}/view/(?P<path>.+)", file.page, limits.TEXTS),
    Route(rf"{_SKILL}/versions", versions.listing),
    Route(rf"{_SKILL}/versions/compare", versions.picked),
    Route(_VERSION, versions.changes, limits.TEXTS),
    Route(rf"{_SKILL}/similar", skills.similar, limits.SEARCHES),
    Route(rf"{_SKILL}/preview", api_skills.preview),
    Route(rf"{_SKILL}(?:/versions/(?P<version>[^/]+))?/files/", files.listing),
    Route(rf"{_SKILL}/files/(?P<path>.+)", files.page),
    Route(rf"{_VERSION}/files/(?P<path>.+)", files.page),
    Route(rf"{_SKILL}/bundle\.zip", files.archive, cost=None),
    Route(rf"{_VERSION}/bundle\.zip", files.archive, cost=None),
    Route(r"/sources", sources.listing, limits.SEARCHES),
    Route(r"/sources/(?P<name>.+)", sources.page, limits.SEARCHES),
    Route(r"/findings", findings.listing, limits.SEARCHES),
    Route(r"/not-a-skill", findings.not_skills, limits.SEARCHES),
    Route(r"/findings/(?P<code>[^/]+)", findings.page, limits.TEXTS),
    Route(r"/indexes", indexes.listing, limits.SEARCHES),
    Route(_INDEX, indexes.page, limits.SEARCHES),
    Route(rf"{_INDEX}/history", indexes.history),
    Route(rf"{_INDEX}/text", indexes.text),
    Route(r"/activity", overview.changes, limits.SEARCHES),
    Route(r"/activity\.atom", feeds.page),
    Route(r"/review", versions.waiting, limits.TEXTS),
    Route(r"/usage", overview.reads, post=reports.receive),
    Route(r"/health", overview.state),
    Route(r"/help", overview.words),
    Route(r"/questions", questions.listing),
    Route(r"/questions/(?P<name>[^/]+)", questions.page, limits.TABLES),
    Route(r"/search\.json", api_skills.hits, limits.SEARCHES),
    Route(r"/index/(?P<name>[^/]+)", prompt_indexes.page, limits.SEARCHES),
    Route(r"/pull\.json", pulls.listing, limits.INDEXES),
    Route(r"/pull\.pyz", pulls.program),
    Route(rf"{_WELL_KNOWN}/agent-skills/index\.json", discovery.page, limits.INDEXES),
    Route(rf"{_WELL_KNOWN}/skills/index\.json", discovery.by_files, limits.INDEXES),
    Route(
        rf"{_WELL_KNOWN}/(?:agent-)?skills/(?P<name>[^/]+)/(?P<path>.+)",
        discovery.file,
        cost=None,
    ),
    Route(r"/-/metrics", metrics.page),
    Route(r"/-/state\.json", service.state),
    Route(r"/-/openapi\.json", service.openapi),
    Route(r"/-/healthz", service.healthz, cost=None, is_open=True),
    Route(r"/-/skilldrop/(?P<name>[a-z]+\.[a-z]+)", service.asset, cost=None, is_open=True),
    Route(r"/robots\.txt", service.robots, cost=None, is_open=True),
    Route(r"/favicon\.ico", service.favicon, cost=None, is_open=True),
    # Last: it matches all other paths below a skill.
    Route(rf"{_SKILL}/(?P<path>.+)", files.of_neighbour),
)
"""All addresses of the site; the first that matches is taken."""
_ERRORS = "datasette.handle_exception"


@hookimpl
def register_routes(datasette: Any) -> list[tuple[str, Any]]:
    """Register the site's routes if one of the databases is a catalog."""
    if not http_location.find(datasette):
        return []
    return [
        (f"^{route.pattern}$", http_request.guarded(route.view, route.post, is_open=route.is_open))
        for route in ROUTES
    ]


@hookimpl
def asgi_wrapper(datasette: Any) -> Any:
    """Put access, limits and security headers around Datasette and its responses."""
    if not http_location.find(datasette):
        return lambda app: app
    # Our hook answers all errors. Where rich is installed, Datasette's own prints local variables
    # into the log, among them the token of a reader, and answers an unknown path with 500.
    if pm.has_plugin(_ERRORS):
        pm.unregister(name=_ERRORS)
    routes = {route.pattern: route.cost for route in ROUTES}
    takes_reports = http_location.setting(datasette, "reports", False)
    posted = {route.pattern for route in ROUTES if route.post and takes_reports}

    def around(app: App) -> App:
        app = limits.wrap(_with_tables(app, datasette), datasette, routes, posted)
        wrapped: App = responses.compressing(security_headers.wrap(access.wrap(app, datasette)))
        return wrapped

    return around


@hookimpl
def permission_allowed(datasette: Any, action: str) -> bool | None:
    """Refuse SQL from other machines unless the operator allows it; Datasette decides the rest."""
    if action != "execute-sql" or not http_location.find(datasette):
        return None
    allows = http_location.setting(datasette, "sql", None)
    return None if allows or (allows is None and access.is_local()) else False


@hookimpl
def prepare_connection(conn: sqlite3.Connection, database: str, datasette: Any) -> None:
    """Limit the resources of each SQL statement; attach the reads of skills to the catalog."""
    location = http_location.find(datasette)
    if location and location.database.name == database:
        if http_location.setting(datasette, "usage", True):
            usage_database.attach(conn, location.catalog)
        conn.row_factory = limits.bounded_rows()
    connection.apply_limits(conn)


@hookimpl
def forbidden(datasette: Any, request: Any, message: str) -> Response | None:
    """Return a refusal as JSON on a JSON route."""
    if not http_location.find(datasette) or not responses.is_json_route(datasette, request.path):
        return None
    return responses.of_error(
        "This site does not run SQL from visitors."
        if message == "execute-sql"
        else f"Forbidden: {message}.",
        403,
    )


@hookimpl
def handle_exception(datasette: Any, request: Any, exception: Exception) -> Any:
    """Return an error as a page, or as JSON on a JSON route."""

    async def respond() -> Response | None:
        location = http_location.find(datasette)
        if not location:
            return None
        context = http_request.RequestContext(datasette, request, location)
        if is_damage(exception):
            return http_request.damaged(context, exception)
        table = http_location.table_of(datasette, http_location.path(datasette, request.scope))
        problem = responses.problem(exception)
        if table and problem.status == 400:
            try:
                problem = await _corrected(location.database, table, problem)
            except sqlite3.DatabaseError as error:
                return http_request.damaged(context, error)
        if responses.is_json_route(datasette, request.path):
            return responses.of_error(problem.message, problem.status)
        if table is None and problem.status == 404:
            return await missing.page(context)
        page = await datasette.render_template(
            "error.html", problem._asdict() | {"error": problem.message}, request=request
        )
        return Response.html(page, status=problem.status)

    return respond


async def _corrected(
    database: Any, table: str, problem: responses.VisibleError
) -> responses.VisibleError:
    """Return a 404 for a missing table, where Datasette reports invalid SQL."""
    if table in {*await database.table_names(), *await database.view_names()}:
        return problem
    return responses.VisibleError(404, f"Table not found: {table}")


@hookimpl
def prepare_jinja2_environment(env: Any, datasette: Any) -> None:
    """Give Datasette's own pages the layout and the cells of the site."""
    if http_location.find(datasette):
        env.globals |= templates.ASSETS | {"cell_html": cells.as_html}
        env.finalize = formatting.plain
        templates.put_before(env)


@hookimpl
def extra_template_vars(request: Any, datasette: Any) -> Any:
    """Show the health in the header of Datasette's pages, if the visitor may see the catalog."""

    async def variables() -> dict[str, Any]:
        location = http_location.find(datasette)
        if not location or not request:
            return {}
        path = http_request.RequestContext(datasette, request, location).path
        sees = await http_location.may_see(datasette, request.actor, location.database.name)
        health = await http_request.header_health(datasette, location) if sees else None
        return {"path": path, "header_health": health}

    return variables


@hookimpl
def render_cell(value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    """Render a cell of the catalog in readable form; None leaves it to Datasette."""
    location = http_location.find(datasette)
    if not location or location.database.name != database:
        return None
    if column in cells.SKILL_IDS and value:
        return cells.skill_id(value, location.database, datasette)
    return cells.render(value, column, table, database, datasette)


def _with_tables(app: App, datasette: Any) -> App:
    """Return the application; pages of tables have default columns, and keep a token in links."""

    async def shown(scope: Any, receive: Any, send: Send) -> None:
        path = http_location.path(datasette, scope) if scope["type"] == "http" else ""
        table = http_location.table_of(datasette, path) if path else None
        if table and "." not in path:
            scope = _with_main_columns(datasette, scope, table)
        prefix = access.prefix(scope) if table is not None else ""
        await app(scope, receive, _with_prefix(send, prefix) if prefix else send)

    return shown


def _with_prefix(send: Send, prefix: str) -> Send:
    """Return a function that sends a page of Datasette, whose links get the beginning of a path."""

    async def sent(message: Message) -> None:
        if body := message.get("body"):
            with_prefix = rb"\g<0>" + prefix.removeprefix("/").encode() + b"/"
            message = {**message, "body": _LINK.sub(with_prefix, body)}
        await send(message)

    return sent


_LINK = re.compile(rb'<[^>]* (?:href|src|action)="/(?!/|token/)')


def _with_main_columns(datasette: Any, scope: Any, table: str) -> Any:
    """Ask for the default columns of a table: a page of all forty columns is unreadable."""
    location = http_location.find(datasette)
    name = location.database.name if location else ""
    columns = http_location.main_columns(datasette, name, table)
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if not columns or any(name in ("_col", "_nocol") for name, _ in parameters):
        return scope
    parameters += [("_col", column) for column in columns]
    return {**scope, "query_string": urlencode(parameters).encode()}

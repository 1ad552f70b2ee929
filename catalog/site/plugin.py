"""What Datasette asks of us: our pages, our headers, and its cells as people read them."""

from typing import Any

from pluggy import HookimplMarker

from catalog.site import (
    assets,
    cells,
    columns,
    discovery,
    headers,
    machine,
    methods,
    place,
    raw,
    templates,
    visit,
)
from catalog.site.pages import activity, file, findings, home, indexes, skill, skills, versions

hookimpl = HookimplMarker("datasette")

_ROUTES = {
    home.ROUTE: home.page,
    skills.ROUTE: skills.page,
    skill.ROUTE: skill.page,
    file.ROUTE: file.page,
    versions.LIST: versions.listing,
    versions.ROUTE: versions.page,
    findings.LIST: findings.listing,
    findings.ROUTE: findings.page,
    indexes.LIST: indexes.listing,
    indexes.ROUTE: indexes.page,
    activity.ROUTE: activity.page,
    machine.SEARCH: machine.hits,
    machine.PREVIEW: machine.preview,
    machine.INDEX: machine.index,
    discovery.ROUTE: discovery.page,
    raw.ROUTE: raw.page,
    raw.BUNDLE: raw.archive,
}
_OPEN = {assets.ROUTE: machine.asset, machine.HEALTH: machine.healthz}


@hookimpl
def register_routes(datasette: Any) -> list[tuple[str, Any]]:
    """Add our pages, where a catalog is among the databases."""
    if not place.find(datasette):
        return []
    return [(route, visit.guarded(view)) for route, view in _ROUTES.items()] + [
        (route, visit.guarded(view, is_open=True)) for route, view in _OPEN.items()]


@hookimpl
def asgi_wrapper(datasette: Any) -> Any:
    """Put our headers on every answer, Datasette's own included."""
    if not place.find(datasette):
        return _unchanged
    return lambda app: headers.wrap(methods.wrap(columns.wrap(app, datasette), datasette))


@hookimpl
def prepare_jinja2_environment(env: Any, datasette: Any) -> None:
    """Give Datasette's own pages our frame."""
    if place.find(datasette):
        env.globals |= {"asset": assets.path, "table_rows": cells.rows}
        templates.put_before(env)


@hookimpl
def render_cell(value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    """Show a cell of the catalog as a person reads it; None leaves it to Datasette."""
    if not cells.concerns(value, column):
        return None
    found = place.find(datasette)
    return cells.render(value, column, table, database, datasette) if (
        found and found.database.name == database) else None


def _unchanged(app: Any) -> Any:
    return app

"""Questions to Datasette whose form differs between 0.65 and the pre-releases of 1.0."""

from typing import Any


async def may_see(datasette: Any, actor: Any, database: str, query: str | None = None) -> bool:
    """Return whether an actor may see a database, or a canned query of it."""
    if hasattr(datasette, "allowed"):  # 1.0
        from datasette.resources import DatabaseResource, QueryResource

        resource = QueryResource(database, query) if query else DatabaseResource(database)
        action = "view-query" if query else "view-database"
        return bool(await datasette.allowed(action=action, resource=resource, actor=actor))
    permissions: list[Any] = [("view-database", database), "view-instance"]
    if query:
        permissions.insert(0, ("view-query", (database, query)))
    is_visible, _ = await datasette.check_visibility(actor, permissions=permissions)
    return bool(is_visible)


def queries(datasette: Any, database: str) -> dict[str, dict[str, Any]]:
    """Return the canned queries of a database as they are configured, by name."""
    if hasattr(datasette, "metadata"):
        return datasette.metadata("queries", database=database) or {}
    return _configured(datasette, database).get("queries") or {}


def main_columns(datasette: Any, database: str, table: str) -> list[str]:
    """Return the default columns of a table; empty unless they are configured."""
    if hasattr(datasette, "metadata"):
        return datasette.metadata("main_columns", database=database, table=table) or []
    tables = _configured(datasette, database).get("tables") or {}
    return (tables.get(table) or {}).get("main_columns") or []


def _configured(datasette: Any, database: str) -> dict[str, Any]:
    return (datasette.config.get("databases") or {}).get(database) or {}

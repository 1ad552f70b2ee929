"""Shows a table's main columns where a person asks for none: a page of all forty says nothing."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from catalog.site.http import location as http_catalog
from catalog.site.http.security_headers import App, Send

SETTING = "main_columns"
"""The key of a table's metadata that names them."""


def wrap(app: App, datasette: Any) -> App:
    """Return the application, asked for the main columns on the pages of tables that name some."""

    async def narrowed(scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] == "http" and (columns := _columns(datasette, scope)):
            asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            if not any(name in ("_col", "_nocol") for name, _ in asked):
                asked += [("_col", column) for column in columns]
                scope = {**scope, "query_string": urlencode(asked).encode()}
        await app(scope, receive, send)

    return narrowed


def _columns(datasette: Any, scope: Any) -> list[str]:
    table = http_catalog.below(datasette, scope["path"])
    found = http_catalog.find(datasette)
    if not found or not table:
        return []
    columns: list[str] = datasette.table_metadata(found.database.name, table).get(SETTING, [])
    return columns

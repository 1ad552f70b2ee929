"""Default columns of table pages, because a page of all forty columns is unreadable."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from catalog.site.http import location as http_catalog
from catalog.site.http.security_headers import App, Send

SETTING = "main_columns"
"""Key of a table's metadata that lists its default columns."""


def wrap(app: App, datasette: Any) -> App:
    """Return the application, with default columns on table pages that have them configured."""

    async def narrowed(scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] == "http" and (columns := _columns(datasette, scope)):
            parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            if not any(name in ("_col", "_nocol") for name, _ in parameters):
                parameters += [("_col", column) for column in columns]
                scope = {**scope, "query_string": urlencode(parameters).encode()}
        await app(scope, receive, send)

    return narrowed


def _columns(datasette: Any, scope: Any) -> list[str]:
    table = http_catalog.below(datasette, scope["path"])
    location = http_catalog.find(datasette)
    if not location or not table:
        return []
    columns: list[str] = datasette.table_metadata(location.database.name, table).get(SETTING, [])
    return columns

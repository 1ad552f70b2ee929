"""Datasette's tables as the site shows them: with default columns, and with types in JSON."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

from catalog.site.http import location as http_location
from catalog.site.http.security_headers import App, Message, Send

_TYPED = {"skill_definitions", "skill_packages"}
"""Views of the product specification, whose JSON has objects and booleans."""
_OBJECTS = ("fileInventory", "file_inventory")


def wrap(app: App, datasette: Any) -> App:
    """Return the application, with default columns and typed JSON on the tables that have them."""

    async def shown(scope: Any, receive: Any, send: Send) -> None:
        path = http_location.path(datasette, scope) if scope["type"] == "http" else ""
        table = http_location.table_of(datasette, path) if path else None
        if table:
            if path.endswith(".json") and table in _TYPED:
                send = _typed(send)
            elif "." not in path:
                scope = _with_main_columns(datasette, scope, table)
        await app(scope, receive, send)

    return shown


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


def _typed(send: Send) -> Send:
    """Return a function that sends a JSON response with the types of the views."""
    start: Message = {}
    parts: list[bytes] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
            return
        parts.append(message.get("body", b""))
        if message.get("more_body"):
            return
        body = b"".join(parts)
        if start["status"] == 200:
            body = json.dumps(json.loads(body, object_hook=_with_types)).encode()
        headers = [each for each in start["headers"] if each[0].lower() != b"content-length"]
        await send({**start, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return sent


def _with_types(value: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its types, or a response whose rows are lists with the types."""
    columns, rows = value.get("columns"), value.get("rows")
    if columns and rows and isinstance(rows[0], list):
        return value | {"rows": [list(map(_of_type, columns, row)) for row in rows]}
    return {name: _of_type(name, each) for name, each in value.items()}


def _of_type(column: str, value: Any) -> Any:
    if column == "isActive" and value is not None:
        return bool(value)
    return json.loads(value) if column in _OBJECTS and isinstance(value, str) else value

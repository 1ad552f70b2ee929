"""JSON of the product specification's views, with objects and booleans where SQLite has none."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from datasette.renderer import json_renderer
from datasette.utils.asgi import Response

from catalog.site.http import location as http_catalog

_COLUMNS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "skill_definitions": {"fileInventory": json.loads, "isActive": bool},
    "skill_packages": {"file_inventory": json.loads},
}
"""Columns with another type in JSON than in the table, by view."""


def render(datasette: Any, args: Any, data: Any, view_name: str, database: str) -> Response:
    """Return Datasette's JSON of a page, with the values of the views in their types."""
    location = http_catalog.find(datasette)
    types = _COLUMNS.get(data.get("table") or "", {})
    if types and location and location.database.name == database:
        columns = data["columns"]
        data["rows"] = [
            [
                types[column](value) if column in types and value is not None else value
                for column, value in zip(columns, row, strict=True)
            ]
            for row in data["rows"]
        ]
    return json_renderer(args, data, view_name)

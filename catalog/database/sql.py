"""Column names, rows and JSON columns in SQL."""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from catalog.model.values import Json


def columns(names: Iterable[str]) -> str:
    """Return column names as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


Row: TypeAlias = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON, with non-ASCII text as it is."""
    return _encode(value)

"""Check of the question in an address: what one request may ask of the tables is bounded."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

from catalog.reading import search
from catalog.site.http import location as http_catalog
from catalog.site.http.checks import Check, Refusal

LONGEST_ADDRESS = 8000
"""Bytes of a path and query together; browsers and proxies rarely pass on more."""
MOST_PARAMETERS = 100
"""Parameters of one question: enough for each column of the widest table, twice."""
MOST_FACETS = 8

_NUMBERS = ("_facet_size", "_timelimit")


def check(datasette: Any) -> Check:
    """Return the check that refuses questions which cost much or cannot be understood."""

    def checked(scope: Any) -> Refusal | None:
        path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
        if path.startswith(b"//") or not path.startswith(b"/"):
            return Refusal(404, "There is nothing at this address.")
        if len(path) + len(query) > LONGEST_ADDRESS:
            return Refusal(414, f"The address is too long; {LONGEST_ADDRESS:,} bytes are allowed.")
        if http_catalog.below(datasette, scope["path"]) is None:
            return None
        complaint = _complaint(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        return Refusal(400, complaint) if complaint else None

    return checked


def _complaint(asked: list[tuple[str, str]]) -> str | None:
    if len(asked) > MOST_PARAMETERS:
        return f"These are {len(asked)} parameters; at most {MOST_PARAMETERS} are allowed."
    facets = sum(name.startswith("_facet") and name != "_facet_size" for name, _ in asked)
    if facets > MOST_FACETS:
        return f"These are {facets} facets; at most {MOST_FACETS} are allowed."
    return next(filter(None, (_complaint_of(name, value) for name, value in asked)), None)


def _complaint_of(name: str, value: str) -> str | None:
    if name in _NUMBERS and not re.fullmatch(r"max|[0-9]{0,6}", value):
        return f"{name} must be a positive integer."
    if name.startswith("_search") and name != "_searchmode" and search.bounded(value)[1]:
        return (
            f"These are too many words; at most {search.MOST_WORDS} words of "
            f"{search.MOST_CHARACTERS} characters in all are searched for."
        )
    if name == "_through" and not _is_through(value):
        return "_through must be a JSON object with table, column and value."
    return None


def _is_through(value: str) -> bool:
    try:
        said = json.loads(value)
    except ValueError:
        return False
    return (
        isinstance(said, dict)
        and {"table", "column", "value"} <= said.keys()
        and all(isinstance(part, str | int | float) for part in said.values())
    )

"""Check of the URL: limits on its length and on the table query that it holds."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

from catalog.site.http import location as http_catalog
from catalog.site.http.checks import Check, Refusal

LONGEST_ADDRESS = 8000
"""Bytes of a path and query together; browsers and proxies rarely accept more."""
MOST_WORDS, MOST_CHARACTERS = 32, 500
"""Limits of a search in a table; each word costs a lookup in the index."""
MOST_PARAMETERS = 100
"""Parameters of one query: enough for two per column of the widest table."""
MOST_FACETS = 8

_NUMBERS = ("_facet_size", "_timelimit")


def check(datasette: Any) -> Check:
    """Return the check that refuses costly and malformed queries."""

    def checked(scope: Any) -> Refusal | None:
        path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
        if path.startswith(b"//") or not path.startswith(b"/"):
            return Refusal(404, "Not found.")
        if len(path) + len(query) > LONGEST_ADDRESS:
            return Refusal(414, f"The URL is too long; the limit is {LONGEST_ADDRESS:,} bytes.")
        if http_catalog.below(datasette, scope["path"]) is None:
            return None
        error = _error(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        return Refusal(400, error) if error else None

    return checked


def _error(parameters: list[tuple[str, str]]) -> str | None:
    if len(parameters) > MOST_PARAMETERS:
        return f"The URL has {len(parameters)} parameters; the limit is {MOST_PARAMETERS}."
    facets = sum(name.startswith("_facet") and name != "_facet_size" for name, _ in parameters)
    if facets > MOST_FACETS:
        return f"The URL has {facets} facets; the limit is {MOST_FACETS}."
    return next(filter(None, (_parameter_error(name, value) for name, value in parameters)), None)


def _parameter_error(name: str, value: str) -> str | None:
    if name in _NUMBERS and not re.fullmatch(r"max|[0-9]{0,6}", value):
        return f"{name} must be a positive integer."
    if name.startswith("_search") and name != "_searchmode" and not _is_short(value):
        return (
            f"The search has too many words; the limit is {MOST_WORDS} words "
            f"and {MOST_CHARACTERS} characters in total."
        )
    if name == "_through" and not _is_through(value):
        return "_through must be a JSON object with table, column and value."
    return None


def _is_short(words: str) -> bool:
    return len(words) <= MOST_CHARACTERS and len(re.findall(r"\w+", words)) <= MOST_WORDS


def _is_through(value: str) -> bool:
    try:
        through = json.loads(value)
    except ValueError:
        return False
    return (
        isinstance(through, dict)
        and {"table", "column", "value"} <= through.keys()
        and all(isinstance(part, str | int | float) for part in through.values())
    )

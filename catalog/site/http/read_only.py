"""Check of the method: the catalog can only be read, and Datasette takes the rest for bugs."""

import re
from collections.abc import Collection
from typing import Any

from catalog.site.http import location as http_catalog
from catalog.site.http.checks import Check, Refusal

READING: tuple[str, ...] = ("GET", "HEAD", "OPTIONS")
READING_OURS: tuple[str, ...] = ("GET", "HEAD")


def check(datasette: Any, routes: Collection[str]) -> Check:
    """Return the check that lets tables, queries and the given routes only be read."""
    ours = re.compile("|".join(f"(?:{re.sub('[?]P<[^>]+>', '', route)})" for route in routes))

    def checked(scope: Any) -> Refusal | None:
        path = http_catalog.path(datasette, scope)
        if ours.match(path):
            allowed = READING_OURS
        elif http_catalog.below(datasette, scope["path"]) is not None or path in ("/", "/.json"):
            allowed = READING
        else:
            return None
        if scope["method"] in allowed:
            return None
        return Refusal(405, "The catalog is only read here.", {"Allow": ", ".join(allowed)})

    return checked

"""Check of the method: the site is read-only, and Datasette answers other methods with 500."""

import re
from collections.abc import Collection
from typing import Any

from catalog.site.http import location as http_catalog
from catalog.site.http.checks import Check, Refusal

READING: tuple[str, ...] = ("GET", "HEAD", "OPTIONS")
READING_OURS: tuple[str, ...] = ("GET", "HEAD")


def check(datasette: Any, routes: Collection[str]) -> Check:
    """Return the check that allows only reading of tables, queries and the given routes."""
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
        return Refusal(405, "This site is read-only.", {"Allow": ", ".join(allowed)})

    return checked

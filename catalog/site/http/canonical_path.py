"""Check of the path: each table has one address, by which the other checks know it.

Datasette decodes names in a path (`~63atalog` is `catalog`). An address in another spelling would
lead to a table past everything that judges the text of the path.
"""

import re
from typing import Any

from datasette.utils import tilde_decode, tilde_encode

from catalog.site.http import location as http_catalog
from catalog.site.http import reader_tokens
from catalog.site.http.checks import Check, Refusal

_PLAIN = re.compile(r"/[A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]*(?:/|\Z)|\Z)")
"""Path whose first two names have only characters that are always written as they are."""


def check(datasette: Any) -> Check:
    """Return the check that redirects other spellings of the catalog and of its tables."""

    def checked(scope: Any) -> Refusal | None:
        path, location = http_catalog.path(datasette, scope), http_catalog.find(datasette)
        if _PLAIN.match(path) or not location:
            return None
        start, *names = path.split("/")
        spelled = [*map(_spelled, names[:2]), *names[2:]]
        database = spelled[0].partition(".")[0]
        if spelled == names or not http_catalog.is_catalog(location, database):
            return None
        address = reader_tokens.prefix(scope) + "/".join((start, *spelled))
        query = scope["query_string"].decode("latin-1")
        return Refusal(
            302,
            "This page has another address.",
            {"Location": f"{datasette.urls.path(address)}{query and '?'}{query}"},
        )

    return checked


def _spelled(name: str) -> str:
    """Return a name of a path as Datasette writes it; the format after a point is no part of it.

    Datasette never finds a name with a percent sign, and redirects it to one with tildes.
    """
    name, point, form = name.partition(".")
    return (name if "%" in name else tilde_encode(tilde_decode(name))) + point + form

"""Tables of the page about HTTP, from the OpenAPI document; the rest of the page is written."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from catalog.model.fields import COLUMNS
from catalog.reading.search.filters import BY_NAME
from catalog.site.api import service

_PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http.md"
_TABLE = re.compile(r"(<!-- From openapi\.yml: (\w+) -->\n).*?(<!-- End -->\n)", re.DOTALL)


def page() -> str:
    """Return the page with its tables as the document has them now."""
    return _TABLE.sub(
        lambda table: f"{table[1]}\n{_TABLES[table[2]](service.document())}\n{table[3]}",
        _PAGE.read_text("utf-8"),
    )


def _endpoints(document: Mapping[str, Any]) -> str:
    rows = [
        f"| `{path.replace('{', '<').replace('}', '>')}` | {_lower(about['summary'])} | "
        + ", ".join(
            f"`{name}`"
            for parameter in about.get("parameters", ())
            if (name := _query_name(document, parameter))
        )
        + " |\n"
        for path, methods in document["paths"].items()
        for about in methods.values()
        if path != "/search.json"
    ]
    return "| path | contains | parameters |\n|---|---|---|\n" + "".join(
        ["| `/search.json` | skills that fit a task, best first | [below](#searchjson) |\n", *rows]
    )


def _search(document: Mapping[str, Any]) -> str:
    parameters = document["paths"]["/search.json"]["get"]["parameters"]
    return "| parameter | meaning |\n|---|---|\n" + "".join(
        f"| `{parameter['name']}` | {parameter['description']} |\n"
        for parameter in parameters
        if parameter["name"] not in BY_NAME
    )


def _keys(name: str) -> Callable[[Mapping[str, Any]], str]:
    def table(document: Mapping[str, Any]) -> str:
        keys = document["components"]["schemas"][name]["properties"]
        shared = ", ".join(f"`{key}`" for key in keys if key in COLUMNS)
        as_stored = f"As in the table [`skills`](schema.md#skills): {shared}.\n\n" if shared else ""
        rows = (
            f"| `{key}` | {schema['description']} |\n"
            for key, schema in keys.items()
            if key not in COLUMNS
        )
        return f"{as_stored}| key | meaning |\n|---|---|\n{''.join(rows)}"

    return table


def _query_name(document: Mapping[str, Any], parameter: Mapping[str, Any]) -> str:
    """Return the name of a parameter of the query string, else an empty text."""
    if reference := parameter.get("$ref"):
        parameter = document["components"]["parameters"][reference.rpartition("/")[2]]
    return parameter["name"] if parameter["in"] == "query" else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


_TABLES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "endpoints": _endpoints,
    "search": _search,
    "skill": _keys("Skill"),
    "health": _keys("Health"),
}

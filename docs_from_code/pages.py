"""Generated pages by their path in docs/."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from docs_from_code import commands, conformance, findings, http, layers, metadata, schema, settings
from docs_from_code.outcome_schemas import SCHEMAS

DOCS = Path(__file__).parents[1] / "docs"

PAGES: Mapping[str, Callable[[], str]] = {
    "../datasette-metadata.yml": metadata.page,
    "conformance.md": conformance.page,
    "reference/commands.md": commands.page,
    "reference/findings.md": findings.page,
    "reference/http.md": http.page,
    "reference/layers.svg": layers.drawing,
    "reference/packages.md": layers.page,
    "reference/schema.md": schema.page,
    "reference/settings.md": settings.page,
    **{f"schemas/{name}.json": partial(schema.of_outcome, name) for name in SCHEMAS},
}
"""The function that generates each page."""


def stale() -> list[str]:
    """Return the generated pages that are missing in docs/ or out of date."""
    return [
        name
        for name, text in PAGES.items()
        if not (DOCS / name).is_file() or (DOCS / name).read_text("utf-8") != text()
    ]

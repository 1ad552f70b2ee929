"""Script that requests every page of a catalog from Datasette, where skilldrop is not installed.

Arguments: the catalog, and the metadata for it. Prints JSON: status and beginning of the answer by
address; for canned queries, with their default or sample parameters.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from datasette.app import Datasette

SEARCH = "_search=quokka&_shape=array"
PATIENT = {"sql_time_limit_ms": 30_000, "facet_time_limit_ms": 30_000}
"""Time limits that a loaded machine keeps."""


async def answers(catalog: str, metadata: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Request each page as HTML and as JSON; return status and beginning of each answer."""
    datasette = Datasette([catalog], metadata=metadata, settings=PATIENT)
    await datasette.invoke_startup()
    database = datasette.get_database("catalog")
    pages = ["/", "/catalog", *(f"/catalog/{name}" for name in await database.table_names())]
    pages += [f"/catalog/{name}" for name in await database.view_names()]
    pages += [f"/catalog/{name}?{SEARCH}" for name in ("skills", "searched_texts")]
    found = {}
    for page in [*pages, *queries(metadata["databases"]["catalog"]["queries"])]:
        name, _, parameters = page.partition("?")
        for address in (page, f"{name if name != '/' else '/-/databases'}.json?{parameters}"):
            answer = await datasette.client.get(address)
            found[address] = (answer.status_code, answer.text[:2000])
    return found


def queries(canned: dict[str, Any]) -> Iterator[str]:
    """Yield the pages of the canned queries."""
    for name, query in canned.items():
        fields = query.get("fields") or {}
        samples = {
            parameter: fields.get(parameter, {}).get("value")
            or fields.get(parameter, {}).get("hint")
            or ""
            for parameter in query.get("params") or ()
        }
        yield f"/catalog/{name}?{urlencode(samples)}"


if __name__ == "__main__":
    _, catalog, metadata_file = sys.argv
    metadata = yaml.safe_load(Path(metadata_file).read_text("utf-8"))
    metadata.pop("plugins", None)
    sys.stdout.write(json.dumps(asyncio.run(answers(catalog, metadata))))

"""Runs Datasette on a catalog that another process may be writing."""

import os
from collections.abc import Mapping
from pathlib import Path

import uvicorn
from datasette.app import Datasette, DatasetteClient
from datasette.database import Database
from datasette.plugins import pm
from datasette.utils import parse_metadata

from catalog import search
from catalog.site import address, place, plugin

SETTINGS: Mapping[str, int | bool] = {
    # Suggesting facets scans the table once a column: 246 ms a page against 11 at 10,000 skills.
    "suggest_facets": False,
    # What is configured must not be left out because an ingest keeps the disk busy for a moment.
    "facet_time_limit_ms": 1000,
    # The same for questions asked of 100,000 skills; one that takes longer is a mistake.
    "sql_time_limit_ms": 3000,
    # Rows are wide, and a page is read from the top; each ten of them take a millisecond.
    "default_page_size": 30,
    "truncate_cells_html": 300,
    # A page says what the catalog says now.
    "default_cache_ttl": 0,
    # A copy of a file in WAL mode lacks what is still in the log.
    "allow_download": False,
    # An export that stops after max_returned_rows looks complete and is not.
    "allow_csv_stream": True,
    "max_csv_mb": 100,
}

GRACE = 1
"""Seconds that requests have to finish after a SIGTERM. All of them only read."""


def serve(catalog: Path, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises NotInCatalog where there is no catalog, CatalogUnusable where it cannot be read, and
    SiteUnavailable where the address cannot be had.
    """
    search.open_catalog(catalog).conn.close()
    address.check(host, port)
    # Datasette puts the path into a URI as it is; a file name is safe there, a folder's may not be.
    os.chdir(catalog.absolute().parent)
    uvicorn.run(application(Path(catalog.name)).app(), host=host, port=port, lifespan="on",
                log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE)


def application(catalog: Path) -> Datasette:
    """Return Datasette with the catalog as its one database, always by the name `catalog`.

    It opens the file read-only but never as immutable: an immutable file in WAL mode shows
    nothing of what is still in the log.
    """
    if not pm.has_plugin(place.PLUGIN):  # where we run without being installed
        pm.register(plugin, place.PLUGIN)
    datasette = Datasette([], settings=dict(SETTINGS),
                          metadata=parse_metadata(metadata_path().read_text("utf-8")))
    datasette.remove_database("_memory")
    datasette.add_database(Database(datasette, str(catalog), is_mutable=True), name="catalog")
    datasette.client = DatasetteClient(datasette)  # the first one was made before our routes
    return datasette


def metadata_path() -> Path:
    """Return datasette-metadata.yml: in an installed package, else at the top of the repository."""
    here = Path(__file__).parent
    name = "datasette-metadata.yml"
    return here / name if (here / name).exists() else here.parents[1] / name

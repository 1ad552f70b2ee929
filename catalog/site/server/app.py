"""Datasette as an application on a catalog that another process may be writing."""

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvicorn
from datasette.app import Datasette, DatasetteClient
from datasette.plugins import pm
from datasette.utils import parse_metadata

from catalog.database import connection as database_connection
from catalog.database.connection import READ_AT_REST, read_mode
from catalog.site import plugin
from catalog.site.http import location as http_catalog
from catalog.site.server import address
from catalog.site.server.bounded_database import BoundedDatabase
from catalog.site.server.protocol import MOST_CONNECTIONS, BoundedProtocol

SETTINGS: Mapping[str, int | bool] = {
    # Suggesting facets scans the table once a column: 246 ms a page against 11 at 10,000 skills.
    "suggest_facets": False,
    # What is configured must not be left out because an ingest keeps the disk busy for a moment.
    "facet_time_limit_ms": 1000,
    # The same for questions asked of 100,000 skills; one that takes longer is a mistake.
    "sql_time_limit_ms": 3000,
    # Two may be busy with tables at once, and the others answer everything else.
    "num_sql_threads": 4,
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

WILDCARDS = frozenset({"0.0.0.0", "::"})
"""Addresses that stand for all of a machine, and are the name of none."""

GRACE = 1
"""Seconds that requests have to finish after a SIGTERM. All of them only read."""


def serve(
    catalog: Path, host: str, port: int, names: Sequence[str] = (), *, sql: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT; `application` says what names and sql mean.

    Raises NotInCatalog where there is no catalog, CatalogUnusable where it cannot be read, and
    SiteUnavailable where the address cannot be had.
    """
    database_connection.open_catalog(catalog).conn.close()
    address.check(host, port)
    if read_mode(catalog) == READ_AT_REST:
        threading.Thread(target=_end_when_written, args=(catalog,), daemon=True).start()
    # Datasette puts the path into a URI as it is; a file name is safe there, a folder's may not be.
    os.chdir(catalog.absolute().parent)
    site = application(Path(catalog.name), [*({host} - WILDCARDS), *names], sql=sql)
    uvicorn.run(
        site.app(),
        host=host,
        port=port,
        lifespan="on",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        http=BoundedProtocol,
        ws="none",
        backlog=MOST_CONNECTIONS,
    )


def application(catalog: Path, names: Sequence[str] = (), *, sql: bool = False) -> Datasette:
    """Return Datasette with the catalog as its one database, always by the name `catalog`.

    It answers to loopback, to this machine and to the names, and runs SQL of visitors only with
    sql. It opens the file read-only, and as immutable only where it cannot be read otherwise: an
    immutable file in WAL mode shows nothing of what is still in the log.
    """
    if not pm.has_plugin(http_catalog.PLUGIN):  # where we run without being installed
        pm.register(plugin, http_catalog.PLUGIN)
    metadata = parse_metadata(metadata_path().read_text("utf-8"))
    metadata["allow_sql"] = sql
    metadata["plugins"] = {http_catalog.PLUGIN: {"names": list(names)}}
    datasette = Datasette([], settings=dict(SETTINGS), metadata=metadata)
    datasette.remove_database("_memory")
    database = BoundedDatabase(
        datasette, str(catalog), is_mutable=read_mode(catalog) != READ_AT_REST
    )
    datasette.add_database(database, name="catalog")
    datasette.client = DatasetteClient(datasette)  # the first one was made before our routes
    return datasette


def _end_when_written(catalog: Path) -> None:
    """End the site once somebody writes the file that was opened as one that nobody writes."""
    while read_mode(catalog) == READ_AT_REST:
        time.sleep(1)
    sys.stderr.write(
        f"skilldrop: a program has begun to write {catalog}, which could only be "
        "served as it was; the site ends, to be started again.\n"
    )
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGTERM)


def metadata_path() -> Path:
    """Return datasette-metadata.yml: in an installed package, else at the top of the repository."""
    here = Path(__file__).parents[1]
    name = "datasette-metadata.yml"
    return here / name if (here / name).exists() else here.parents[1] / name

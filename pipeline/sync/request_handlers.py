"""Handlers of requests that change the catalog: run here, or by a running service."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from catalog.database import connection as database_connection
from catalog.database import request_table
from catalog.model.errors import CatalogBusy
from catalog.model.values import Json
from catalog.reading import versions
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.sync.open_catalog import with_store

log = logging.getLogger("skilldrop")

Handler: TypeAlias = Callable[[Settings, Store, Mapping[str, Json]], Json]
"""Does one thing with the catalog open for writing, and returns what the command prints.

Raises SkilldropError.
"""


def handle(settings: Settings, action: str, arguments: Mapping[str, Json]) -> Json:
    """Do something to the catalog, or let the service do it where one runs.

    Raises SkilldropError: what could not be done, CatalogBusy where something else than a
    service writes the catalog, and what `open_store` raises.
    """

    def alone(store: Store) -> Json:
        done = HANDLERS[action](settings, store, arguments)
        publish_indexes(
            store,
            settings.index_specs,
            settings.index_folder,
            datetime.now(UTC),
            settings.retention.of_indexes,
        )
        return done

    return run_or_request(settings, action, arguments, alone)


def run_or_request(
    settings: Settings,
    action: str,
    arguments: Mapping[str, Json],
    alone: Callable[[Store], Json],
    *,
    needs_root: bool = True,
    waiting: Callable[[int], None] = lambda _: None,
) -> Json:
    """Do something with the catalog open for writing, or ask a service that has it open.

    waiting is told how many seconds the service has taken so far. Raises what `carry_out` does.
    """
    try:
        return with_store(settings, alone, needs_root=needs_root)
    except CatalogBusy:
        if not database_connection.service_runs(settings.catalog_path):
            raise
        return request_table.ask(settings.catalog_path, action, arguments, waiting=waiting)


def _rollback(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.pin(skill, str(arguments["version"]), datetime.now(UTC))
    return versions.history(store.db, skill).as_json()


def _unpin(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.unpin(skill, datetime.now(UTC))
    return versions.history(store.db, skill).as_json()


HANDLERS: dict[str, Handler] = {"rollback": _rollback, "unpin": _unpin}
"""What is done at once, …"""
MEND = "mend"
"""… and what a full scan does."""

"""What a command wants done to the catalog: done at once, or by the service that runs."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from catalog import history, requests, search
from catalog.errors import CatalogBusy, RequestFailed, SkilldropError
from catalog.publisher import publish_indexes
from catalog.record import Json
from catalog.store import Store, explained
from pipeline.config import Settings
from pipeline.opening import open_store

log = logging.getLogger("skilldrop")

Doing: TypeAlias = Callable[[Settings, Store, Mapping[str, Json]], Json]
"""Does one thing with the catalog open for writing, and returns what the command prints.

Raises SkilldropError.
"""


def carry_out(settings: Settings, what: str, arguments: Mapping[str, Json]) -> Json:
    """Do something to the catalog, or let the service do it where one runs.

    Raises SkilldropError: what could not be done, CatalogBusy where something else than a
    service writes the catalog, and what `open_store` raises.
    """
    try:
        store = open_store(settings)
    except CatalogBusy:
        if not search.service_runs(settings.catalog_path):
            raise
        return requests.ask(settings.catalog_path, what, arguments)
    try:
        with explained(settings.data):
            done = DOINGS[what](settings, store, arguments)
            publish_indexes(store, settings.index_specs, settings.index_folder, datetime.now(UTC))
        return done
    finally:
        store.close()


class Wishes:
    """The service's side: carries out what commands have asked for."""

    def __init__(self, settings: Settings) -> None:
        """Take the settings in force."""
        self._settings = settings

    def abandon(self, store: Store) -> None:
        """Answer those whom an earlier service left waiting."""
        requests.abandon(store.db, datetime.now(UTC))

    def grant(self, store: Store) -> int:
        """Do what is asked for, and return how much that was; what fails is told to who asked."""
        done = 0
        for request in requests.waiting(store.db, datetime.now(UTC)):
            if requests.begin(store.db, request, datetime.now(UTC)):
                self._grant(store, request)
                done += 1
        return done

    def _grant(self, store: Store, request: requests.Request) -> None:
        try:
            if request.what not in DOINGS:  # asked by a newer program than the one that runs
                raise RequestFailed(f"The service does not know {request.what!r}; restart it.")
            with explained(self._settings.data):
                result = DOINGS[request.what](self._settings, store, request.arguments)
        except SkilldropError as error:
            requests.finish(store.db, request, datetime.now(UTC), error=str(error))
        else:
            log.info("%s, as a command asked", request.what)
            requests.finish(store.db, request, datetime.now(UTC), done=result)


def _rollback(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.hold(skill, str(arguments["version"]), datetime.now(UTC))
    return history.history(store.db, skill).as_json()


def _unpin(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.release(skill, datetime.now(UTC))
    return history.history(store.db, skill).as_json()


DOINGS: dict[str, Doing] = {"rollback": _rollback, "unpin": _unpin}
"""All that can be wished for."""

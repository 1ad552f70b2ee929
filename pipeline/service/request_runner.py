"""Requests of commands, run by the service."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, cast

from catalog.database import request_table
from catalog.database.connection import explained
from catalog.model.errors import RequestFailed, SkilldropError
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots.units import WatchUnit
from pipeline.service.scan_queue import RepairRequest, ScanQueue
from pipeline.sync.request_handlers import HANDLERS, MEND, log


class RequestRunner:
    """The service's side: carries out what commands have asked for.

    What is short is done at once. What means a look at everything is done by a full scan, and
    answered when it has ended and all that it came upon is settled and published.
    """

    def __init__(self, settings: Settings, passes: ScanQueue) -> None:
        """Take the settings in force, and who makes the full scans."""
        self._settings = settings
        self._scans = passes
        self._mended: list[_Mended] = []

    def abandon(self, store: Store) -> None:
        """Answer requests that an earlier service left waiting."""
        self._mended.clear()
        request_table.abandon(store.db, datetime.now(UTC))

    def grant(self, store: Store) -> int:
        """Do what is asked for, and return how much that was; what fails is told to who asked."""
        done = 0
        for request in request_table.waiting(store.db, datetime.now(UTC)):
            if not request_table.begin(store.db, request, datetime.now(UTC)):
                continue
            if request.what == MEND:
                self._scans.request("command", _mending(request))
            else:
                self._grant(store, request)
                done += 1
        return done

    def scanned(
        self, repairs: Sequence[RepairRequest], unsettled: Collection[WatchUnit], until: float
    ) -> None:
        """Note that a scan has mended; what it found unsettled is waited for `until` a moment."""
        self._mended += [
            _Mended(each.request, None, frozenset(unsettled), until) for each in repairs
        ]

    def failed(self, repairs: Sequence[RepairRequest], error: Exception) -> None:
        """Note that a scan could not mend."""
        why = str(error) or "There was not enough memory for it."
        self._mended += [_Mended(each.request, why) for each in repairs]

    def answer(self, store: Store, waiting: Collection[WatchUnit], now: float) -> None:
        """Tell who asked for a repair, unless a folder that it came upon is among the waiting."""
        for each in list(self._mended):
            if each.error is None and now < each.until and not each.unsettled.isdisjoint(waiting):
                continue
            request_table.finish(store.db, each.request, datetime.now(UTC), error=each.error)
            self._mended.remove(each)
            if each.error is None:
                log.info("mended everything, as a command asked")

    def _grant(self, store: Store, request: request_table.Request) -> None:
        try:
            if request.what not in HANDLERS:  # asked by a newer program than the one that runs
                raise RequestFailed(f"The service does not know {request.what!r}; restart it.")
            with explained(self._settings.catalog_path):
                result = HANDLERS[request.what](self._settings, store, request.arguments)
        except SkilldropError as error:
            request_table.finish(store.db, request, datetime.now(UTC), error=str(error))
        else:
            log.info("%s, as a command asked", request.what)
            request_table.finish(store.db, request, datetime.now(UTC), done=result)


def _mending(request: request_table.Request) -> RepairRequest:
    places = cast(Sequence[tuple[str, str]], request.arguments["places"])
    return RepairRequest(
        request,
        bool(request.arguments["accept_removals"]),
        tuple(WatchUnit(root, path) for root, path in places),
    )


class _Mended(NamedTuple):
    """A repair that was made or failed, and whose asker waits."""

    request: request_table.Request
    error: str | None
    unsettled: frozenset[WatchUnit] = frozenset()
    until: float = 0.0  # no folder is waited for any longer

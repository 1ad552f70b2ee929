"""Runner of the requests that commands send to the service."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, cast

from catalog.database.connection import explained
from catalog.database.requests import Request
from catalog.model.errors import RequestFailed, SkilldropError
from catalog.text.display import visible
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots import internal_errors
from pipeline.roots.units import WatchUnit
from pipeline.service.pulls import Pulls
from pipeline.service.scan_queue import RepairRequest, ScanQueue
from pipeline.sync.request_handlers import HANDLERS, REPAIR, log


class RequestRunner:
    """The service's side of requests.

    Short requests run at once. A repair or a scan runs as a full scan; it is answered after the
    scan has ended and all folders that it found changing are settled and published.
    """

    def __init__(self, settings: Settings, scans: ScanQueue, pulls: Pulls) -> None:
        """Take the settings in force, the queue of full scans, and the pulls."""
        self._settings = settings
        self._scans = scans
        self._pulls = pulls
        self._pulling: list[Request] = []  # scans that wait for the pulls
        self._finished: list[_FinishedRepair] = []

    def abandon(self, store: Store) -> None:
        """Fail the requests that an earlier service left unanswered."""
        self._finished.clear()
        self._pulling.clear()
        store.requests.abandon(datetime.now(UTC))

    def grant(self, store: Store) -> int:
        """Run waiting requests and answer them; return how many were run at once."""
        done = 0
        for request in store.requests.waiting(datetime.now(UTC)):
            if not store.requests.begin(request, datetime.now(UTC)):
                continue
            if request.action == REPAIR and request.arguments.get("pull"):
                self._pulls.start_all()
                self._pulling.append(request)
            elif request.action == REPAIR:
                self._scans.request("command", _repair(request))
            else:
                self._grant(store, request)
                done += 1
        if not self._pulls.is_running:
            for request in self._pulling:
                self._scans.request("command", _repair(request))
            self._pulling.clear()
        return done

    def scanned(
        self, repairs: Sequence[RepairRequest], unsettled: Collection[WatchUnit], until: float
    ) -> None:
        """Note finished repairs; their answers wait for the unsettled folders `until` a time."""
        self._finished += [
            _FinishedRepair(repair.request, None, frozenset(unsettled), until) for repair in repairs
        ]

    def failed(self, repairs: Sequence[RepairRequest], error: Exception) -> None:
        """Note repairs that failed with an error."""
        if internal_errors.is_internal(error):
            message = internal_errors.sentence(error)
        else:
            message = str(error) or "There was not enough memory for the repair."
        self._finished += [_FinishedRepair(repair.request, message) for repair in repairs]

    def answer(self, store: Store, waiting: Collection[WatchUnit], now: float) -> None:
        """Answer finished repairs, except those whose unsettled folders still wait."""
        for repair in list(self._finished):
            has_failed = repair.error is not None
            is_unsettled = now < repair.until and not repair.unsettled.isdisjoint(waiting)
            if is_unsettled and not has_failed:
                continue
            store.requests.finish(repair.request, datetime.now(UTC), error=repair.error)
            self._finished.remove(repair)
            if not has_failed:
                log.info("full scan finished, requested by a command")

    def _grant(self, store: Store, request: Request) -> None:
        try:
            if request.action not in HANDLERS:  # from a newer version of skilldrop
                raise RequestFailed(
                    f"The running service does not know the request {request.action!r}; restart it."
                )
            with explained(self._settings.catalog_path):
                result = HANDLERS[request.action](self._settings, store, request.arguments)
        except SkilldropError as error:
            store.requests.finish(request, datetime.now(UTC), error=str(error))
        else:
            _log_done(request)
            store.requests.finish(request, datetime.now(UTC), done=result)


def _log_done(request: Request) -> None:
    """Log a request with its arguments, such as the skill and the version."""
    texts = [str(value) for key, value in request.arguments.items() if value and key not in _LONG]
    arguments = visible(" ".join(texts))
    log.info(
        "%s %s, requested by a command",
        request.action,
        arguments,
        extra={"fields": {"request": request.action, **request.arguments}},
    )


_LONG = ("absolute", "why")
"""Arguments that repeat another one, or that the log of changes has."""


def _repair(request: Request) -> RepairRequest:
    places = cast(Sequence[tuple[str, str]], request.arguments["places"])
    return RepairRequest(
        request,
        bool(request.arguments["accept_removals"]),
        tuple(WatchUnit(root, path) for root, path in places),
        bool(request.arguments.get("deep", True)),  # not said by older commands
    )


class _FinishedRepair(NamedTuple):
    """A repair that succeeded or failed, and is not answered yet."""

    request: Request
    error: str | None
    unsettled: frozenset[WatchUnit] = frozenset()
    until: float = 0.0  # time after which unsettled folders no longer delay the answer

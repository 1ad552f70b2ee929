"""Runner of the requests that commands send to the service."""

import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, cast

from catalog.database.connection import explained
from catalog.database.requests import Request
from catalog.model.errors import RequestFailed, SkilldropError
from catalog.text.visible import visible
from pipeline.roots import internal_errors
from pipeline.roots.units import WatchUnit
from pipeline.service.parts import Work
from pipeline.service.requests import HANDLERS, REPAIR, log
from pipeline.service.scans import ScanRequest


class RequestRunner:
    """The service's side of requests.

    Short requests run at once. A repair or a scan runs as a full scan; it is answered after the
    scan has ended and all folders that it found changing are settled and published.
    """

    def __init__(self, work: Work) -> None:
        """Fail the requests that an earlier service left unanswered."""
        self._work = work
        self._store = work.store
        self._pulling: list[Request] = []  # scans that wait for the pulls
        self._finished: list[_FinishedRepair] = []
        self._store.requests.abandon(datetime.now(UTC))

    def grant(self) -> None:
        """Run waiting requests, and answer those that are run at once."""
        for request in self._store.requests.waiting(datetime.now(UTC)):
            if not self._store.requests.begin(request, datetime.now(UTC)):
                continue
            if request.action == REPAIR and request.arguments.get("pull"):
                self._work.pulls.start_all()
                self._pulling.append(request)
            elif request.action == REPAIR:
                self._work.scans.request(_repair(request))
            else:
                self._grant(request)
                self._work.publication.publish_now()
        if not self._work.pulls.is_running:
            for request in self._pulling:
                self._work.scans.request(_repair(request))
            self._pulling.clear()

    def scanned(self, unsettled: Collection[WatchUnit]) -> None:
        """Note the end of a scan; its answers wait for the unsettled folders, but not for ever."""
        until = time.monotonic() + self._work.settings.settle_longest
        self._finished += [
            _FinishedRepair(request, None, frozenset(unsettled), until)
            for request in self._granted()
        ]

    def failed(self, error: Exception) -> None:
        """Note that the scan failed with an error."""
        if internal_errors.is_internal(error):
            message = internal_errors.sentence(error)
        else:
            message = str(error) or "There was not enough memory for the repair."
        self._finished += [_FinishedRepair(request, message) for request in self._granted()]

    def answer(self) -> None:
        """Answer finished repairs, except those whose unsettled folders still wait."""
        waiting, now = self._work.units.waiting(), time.monotonic()
        for repair in list(self._finished):
            has_failed = repair.error is not None
            is_unsettled = now < repair.until and not repair.unsettled.isdisjoint(waiting)
            if is_unsettled and not has_failed:
                continue
            self._store.requests.finish(repair.request, datetime.now(UTC), error=repair.error)
            self._finished.remove(repair)
            if not has_failed:
                log.info("full scan finished, requested by a command")

    def _granted(self) -> list[Request]:
        """Return the requests that the running or the last scan fulfils."""
        return [granted.asked for granted in self._work.scans.granted if granted.asked]

    def _grant(self, request: Request) -> None:
        try:
            if request.action not in HANDLERS:  # from a newer version of skilldrop
                raise RequestFailed(
                    f"The running service does not know the request {request.action!r}; restart it."
                )
            with explained(self._work.settings.catalog_path):
                result = HANDLERS[request.action](
                    self._work.settings, self._store, request.arguments
                )
        except SkilldropError as error:
            self._store.requests.finish(request, datetime.now(UTC), error=str(error))
        else:
            _log_done(request)
            self._store.requests.finish(request, datetime.now(UTC), done=result)


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


def _repair(request: Request) -> ScanRequest:
    places = cast(Sequence[tuple[str, str]], request.arguments["places"])
    return ScanRequest(
        "command",
        accepts_removals=bool(request.arguments["accept_removals"]),
        doubted=tuple(WatchUnit(root, path) for root, path in places),
        is_deep=bool(request.arguments.get("deep", True)),  # not said by older commands
        asked=request,
    )


class _FinishedRepair(NamedTuple):
    """A repair that succeeded or failed, and is not answered yet."""

    request: Request
    error: str | None
    unsettled: frozenset[WatchUnit] = frozenset()
    until: float = 0.0  # time after which unsettled folders no longer delay the answer

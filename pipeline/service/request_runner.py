"""Runner of the requests that commands send to the service."""

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from catalog.database.connection import explained
from catalog.database.requests import Request
from catalog.model.errors import RequestFailed, SkilldropError
from catalog.text.visible import visible
from pipeline.roots import internal_errors
from pipeline.roots.units import WatchUnit
from pipeline.service.parts import Work
from pipeline.service.requests import HANDLERS, REPAIR, log
from pipeline.service.scans import ScanRequest


class _Scanned(NamedTuple):
    """A request whose scan has ended or failed, and that is not answered yet."""

    request: Request
    error: str | None
    unsettled: frozenset[WatchUnit] = frozenset()
    until: float = 0.0  # time after which unsettled folders no longer delay the answer


class RequestRunner:
    """The service's side of requests.

    Short requests run at once. A repair or a scan runs as a full scan; it is answered after the
    scan has ended and all folders that it found changing are settled and published.
    """

    def __init__(self, work: Work) -> None:
        """Fail the requests that an earlier service left unanswered."""
        self._work = work
        self._requests = work.store.requests
        self._pulling: list[Request] = []  # scans that wait for the pulls
        self._scanned: list[_Scanned] = []
        self._requests.abandon(datetime.now(UTC))

    def grant(self) -> None:
        """Run waiting requests, and answer those that are run at once."""
        for request in self._requests.waiting(datetime.now(UTC)):
            if not self._requests.begin(request, datetime.now(UTC)):
                continue
            if request.action == REPAIR and request.arguments.get("pull"):
                self._work.pulls.start_all()
                self._pulling.append(request)
            elif request.action == REPAIR:
                self._work.scans.request(_scan(request))
            else:
                self._grant(request)
                self._work.publication.publish_now()
        if not self._work.pulls.is_running:
            for request in self._pulling:
                self._work.scans.request(_scan(request))
            self._pulling.clear()

    def scanned(self, unsettled: Collection[WatchUnit]) -> None:
        """Note the end of a scan; its answers wait for the unsettled folders, but not for ever."""
        until = time.monotonic() + self._work.settings.settle_longest
        for request in self._granted():
            self._scanned.append(_Scanned(request, None, frozenset(unsettled), until))

    def failed(self, error: Exception) -> None:
        """Note that the scan failed with an error."""
        if internal_errors.is_internal(error):
            message = internal_errors.sentence(error)
        else:
            message = str(error) or "There was not enough memory for the repair."
        self._scanned += [_Scanned(request, message) for request in self._granted()]

    def answer(self) -> None:
        """Answer the requests whose scan has ended, except while unsettled folders wait."""
        waiting, now = self._work.units.waiting(), time.monotonic()
        for scanned in list(self._scanned):
            request, error, unsettled, until = scanned
            if now >= until or unsettled.isdisjoint(waiting):
                self._requests.finish(request, datetime.now(UTC), error=error)
                self._scanned.remove(scanned)
                if not error:
                    log.info("full scan finished, requested by a command")

    def _granted(self) -> Iterator[Request]:
        """Yield the requests that the running or the last scan fulfils."""
        yield from (granted.asked for granted in self._work.scans.granted if granted.asked)

    def _grant(self, request: Request) -> None:
        settings = self._work.settings
        try:
            if request.action not in HANDLERS:  # from a newer version of skilldrop
                raise RequestFailed(
                    f"The running service does not know the request {request.action!r}; restart it."
                )
            with explained(settings.catalog_path):
                result = HANDLERS[request.action](settings, self._work.store, request.arguments)
        except SkilldropError as error:
            self._requests.finish(request, datetime.now(UTC), error=str(error))
        else:
            _log_done(request)
            self._requests.finish(request, datetime.now(UTC), done=result)


def _log_done(request: Request) -> None:
    """Log a request with its arguments, such as the skill and the version."""
    # The others repeat one, or the log of changes has them.
    shown = [str(value) for key, value in request.arguments.items() if key not in _LONG and value]
    log.info(
        "%s %s, requested by a command",
        request.action,
        visible(" ".join(shown)),
        extra={"fields": {"request": request.action, **request.arguments}},
    )


_LONG = ("absolute", "why")


def _scan(request: Request) -> ScanRequest:
    arguments = cast(dict[str, Any], request.arguments)
    return ScanRequest(
        "command",
        accepts_removals=arguments["accept_removals"],
        doubted=tuple(WatchUnit(root, path) for root, path in arguments["places"]),
        is_deep=arguments["deep"],
        asked=request,
    )

"""Requests of commands that change the catalog: carried out here, or by a running service."""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from catalog.database import requests
from catalog.database.connection import explained, service_runs
from catalog.database.requests import Request, Requests
from catalog.model.errors import CatalogBusy, NotPossible, RootUnreadable, SkilldropError
from catalog.model.values import Json
from catalog.reading import told_skills
from catalog.reading.skills import review, skill_facts, versions
from catalog.text.humanize import iso
from catalog.text.visible import visible
from catalog.writing.decisions import Decision
from catalog.writing.store import Store
from pipeline.config.settings import Settings, linked_directory
from pipeline.roots import internal_errors
from pipeline.service.open_catalog import publish, with_store
from pipeline.service.parts import Work
from pipeline.service.scans import ScanRequest
from pipeline.watch.settling import WatchUnit

log = logging.getLogger("skilldrop")

T = TypeVar("T")
Handler: TypeAlias = Callable[[Settings, Store, Mapping[str, Json]], dict[str, Any]]
"""Function that changes the catalog and returns the JSON for the command; raises SkilldropError."""


def handle(settings: Settings, action: str, arguments: Mapping[str, Json]) -> dict[str, Any]:
    """Run the handler of a request here, or let a running service do so; return its result.

    Raises the errors of the handler and those of `run_or_request`.
    """

    def work(store: Store) -> dict[str, Any]:
        result = HANDLERS[action](settings, store, arguments)
        publish(settings, store, datetime.now(UTC))
        return result

    return run_or_request(settings, action, arguments, work)


def run_or_request(
    settings: Settings,
    action: str,
    arguments: Mapping[str, Json],
    work: Callable[[Store], T],
    *,
    needs_root: bool = True,
    waiting: Callable[[int], None] = lambda _: None,
) -> T:
    """Do work with the catalog open for writing, or send a request to the service that has it open.

    waiting is called with the seconds that the service has taken so far. Raises NotPossible, and
    the errors of `open_store` and of the work.
    """
    try:
        return with_store(settings, work, needs_root=needs_root)
    except (CatalogBusy, RootUnreadable):  # the service may know other roots
        if not service_runs(settings.catalog_path):
            raise
        result: T = requests.ask(settings.catalog_path, action, arguments, waiting=waiting)
        return result


def _pin(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    skill, version = str(arguments["skill"]), arguments.get("version")
    if version:
        store.pin(skill, str(version), datetime.now(UTC))
    else:
        store.unpin(skill, datetime.now(UTC))
    return versions.history(store.db, skill)


def _prefer(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    skill_id = store.prefer(str(arguments["folder"]), datetime.now(UTC))
    return {"skill_id": skill_id, "skills": skill_facts.folders_of(store.db, skill_id)}


def _review(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    given = cast(dict[str, Any], arguments)
    at = iso(datetime.now(UTC))
    decision = Decision(given["decision"], given["by"], at, given["why"] or None)
    row = store.review(given["skill"], given["version"] or None, decision)
    return review.outcome(store.db, row)


def _link(settings: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    try:
        link = linked_directory(arguments)
        settings.check_link(link)
    except ValueError as error:
        text = str(error)
        raise NotPossible(f"{text[:1].upper()}{text[1:]}.") from None
    known = store.links.find(link.path)
    if known and known.origin == "settings" and not known.is_leaving:
        raise NotPossible(f"{link.path} is in the settings; change its filter there, in [[links]].")
    kept = store.links.link(link)
    store.decisions.write()
    told = [each.summary() for each in told_skills.of_directories(store.db, link.path)]
    return {**kept._asdict(), "told": told[0] if told else None}


def _unlink(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    path = str(arguments["path"])
    known = store.links.find(path) or store.links.find(os.path.realpath(path))
    if known is None:
        raise NotPossible(f"{path} is not a directory that skilldrop keeps links in.")
    if known.origin == "data":
        raise NotPossible(f"{path} belongs to the catalog; its skills are always kept.")
    if known.origin == "settings" and not known.is_leaving:
        raise NotPossible(f"{path} is in the settings; remove it there, from [[links]].")
    removed = store.links.unlink(known)
    store.decisions.write()
    return dict(removed._asdict())


HANDLERS: dict[str, Handler] = {
    "pin": _pin,
    "unpin": _pin,
    "prefer": _prefer,
    "review": _review,
    "link": _link,
    "unlink": _unlink,
}
"""Requests that run at once, by name."""
REPAIR = "repair"
"""Name of the request that runs as a full scan."""


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
        self._requests = Requests(work.store.db)
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
        """Note the end of a scan; its answers wait for unsettled folders, for a limited time."""
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

    def answer(self, trouble: str | None = None) -> None:
        """Answer the requests whose scan has ended, except while unsettled folders wait.

        `trouble` says why their changes are not published.
        """
        waiting, now = self._work.units.waiting(), time.monotonic()
        for scanned in list(self._scanned):
            request, error, unsettled, until = scanned
            if now >= until or unsettled.isdisjoint(waiting):
                error = error or trouble
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
                raise NotPossible(
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
    given = {key: value for key, value in request.arguments.items() if key != "why" and value}
    shown = [key if value is True else str(value) for key, value in given.items()]
    log.info("%s %s, requested by a command", request.action, visible(" ".join(shown)))


def _scan(request: Request) -> ScanRequest:
    arguments = cast(dict[str, Any], request.arguments)
    return ScanRequest(
        "command",
        accepts_removals=arguments["accept_removals"],
        doubted=tuple(WatchUnit(root, path) for root, path in arguments["places"]),
        is_deep=arguments["deep"],
        asked=request,
    )

"""Requests of commands that change the catalog: carried out here, or by a running service."""

import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeAlias, cast

from catalog.database import connection as database_connection
from catalog.database import requests
from catalog.database.connection import explained
from catalog.database.requests import Request
from catalog.model.errors import CatalogBusy, NotLinked, RequestFailed, SkilldropError
from catalog.model.values import Json
from catalog.reading import browse, review, versions
from catalog.reading.review import Asked
from catalog.text.humanize import iso
from catalog.text.visible import visible
from catalog.writing.decisions import Decision
from catalog.writing.store import Store
from pipeline.config.settings import Settings, linked_directory
from pipeline.roots import internal_errors
from pipeline.roots.units import WatchUnit
from pipeline.service.open_catalog import with_store
from pipeline.service.publication import publish
from pipeline.service.pulls import Pulls
from pipeline.service.scan_queue import RepairRequest, ScanQueue

log = logging.getLogger("skilldrop")

Handler: TypeAlias = Callable[[Settings, Store, Mapping[str, Json]], Json]
"""Function that changes the catalog and returns the JSON for the command; raises SkilldropError."""


def handle(settings: Settings, action: str, arguments: Mapping[str, Json]) -> Json:
    """Run the handler of a request here, or let a running service do so; return its result.

    Raises the errors of the handler and those of `run_or_request`.
    """

    def work(store: Store) -> Json:
        result = HANDLERS[action](settings, store, arguments)
        publish(settings, store, datetime.now(UTC))
        return result

    return run_or_request(settings, action, arguments, work)


def run_or_request(
    settings: Settings,
    action: str,
    arguments: Mapping[str, Json],
    work: Callable[[Store], Json],
    *,
    needs_root: bool = True,
    waiting: Callable[[int], None] = lambda _: None,
) -> Json:
    """Do work with the catalog open for writing, or send a request to the service that has it open.

    waiting is called with the seconds that the service has taken so far. Raises CatalogBusy if
    another process than a service writes the catalog, RequestFailed, and the errors of `open_store`
    and of the work.
    """
    try:
        return with_store(settings, work, needs_root=needs_root)
    except CatalogBusy:
        if not database_connection.service_runs(settings.catalog_path):
            raise
        return requests.ask(settings.catalog_path, action, arguments, waiting=waiting)


def _rollback(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.pin(skill, str(arguments["version"]), datetime.now(UTC))
    return versions.history(store.db, skill).as_json()


def _unpin(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    skill = str(arguments["skill"])
    store.unpin(skill, datetime.now(UTC))
    return versions.history(store.db, skill).as_json()


def _prefer(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    folder, absolute = str(arguments["folder"]), str(arguments["absolute"])
    skill_id = store.prefer(folder, absolute, datetime.now(UTC))
    return {"skill_id": skill_id, "skills": browse.folders_of(store.db, skill_id)}


def _review(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    version, why = arguments["version"], arguments["why"]
    asked = Asked(
        str(arguments["skill"]), str(arguments["absolute"]), str(version) if version else None
    )
    decision: Literal["approved", "rejected"] = (
        "approved" if arguments["decision"] == "approved" else "rejected"
    )
    at = iso(datetime.now(UTC))
    by, why = str(arguments["by"]), str(why) if why else None
    row = store.review(asked, Decision(decision, by, at, why))
    return review.outcome(store.db, row)


def _link(settings: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    try:
        link = linked_directory(arguments)
        settings.check_link(link)
    except ValueError as error:
        raise NotLinked(_as_sentence(error)) from None
    known = store.links.find(link.path)
    if known and known.origin == "settings" and not known.is_leaving:
        raise NotLinked(f"{link.path} is in the settings; change its filter there, in [[links]].")
    assert store.packages
    kept = store.links.link(link, store.packages)
    if kept.trouble:
        raise NotLinked(kept.trouble)
    return kept.as_json()


def _unlink(_: Settings, store: Store, arguments: Mapping[str, Json]) -> Json:
    path = str(arguments["path"])
    known = store.links.find(path) or store.links.find(os.path.realpath(path))
    if known is None:
        raise NotLinked(f"{path} is not a directory that skilldrop keeps links in.")
    if known.origin == "data":
        raise NotLinked(f"{path} belongs to the catalog; its skills are always kept.")
    if known.origin == "settings" and not known.is_leaving:
        raise NotLinked(f"{path} is in the settings; remove it there, from [[links]].")
    assert store.packages
    kept = store.links.unlink(known, store.packages)
    if kept.trouble:
        raise NotLinked(kept.trouble)
    return kept.as_json()


def _as_sentence(error: ValueError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


HANDLERS: dict[str, Handler] = {
    "rollback": _rollback,
    "unpin": _unpin,
    "prefer": _prefer,
    "review": _review,
    "link": _link,
    "unlink": _unlink,
}
"""Requests that run at once, by name."""
REPAIR = "repair"
"""Name of the request that runs as a full scan."""


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

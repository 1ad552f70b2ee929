"""Requests of commands that change the catalog: carried out here, or by a running service."""

import logging
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar, cast

from catalog.database import connection as database_connection
from catalog.database import requests
from catalog.model.errors import CatalogBusy, NotLinked
from catalog.model.values import Json
from catalog.reading import browse, review, versions
from catalog.reading.review import Asked
from catalog.text.humanize import iso
from catalog.writing.decisions import Decision
from catalog.writing.store import Store
from pipeline.config.settings import Settings, linked_directory
from pipeline.service.open_catalog import publish, with_store

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

    waiting is called with the seconds that the service has taken so far. Raises CatalogBusy if
    another process than a service writes the catalog, RequestFailed, and the errors of `open_store`
    and of the work.
    """
    try:
        return with_store(settings, work, needs_root=needs_root)
    except CatalogBusy:
        if not database_connection.service_runs(settings.catalog_path):
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
    folder, absolute = str(arguments["folder"]), str(arguments["absolute"])
    skill_id = store.prefer(folder, absolute, datetime.now(UTC))
    return {"skill_id": skill_id, "skills": browse.folders_of(store.db, skill_id)}


def _review(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    given = cast(dict[str, Any], arguments)
    asked = Asked(given["skill"], given["absolute"], given["version"] or None)
    at = iso(datetime.now(UTC))
    row = store.review(asked, Decision(given["decision"], given["by"], at, given["why"] or None))
    return review.outcome(store.db, row)


def _link(settings: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    try:
        link = linked_directory(arguments)
        settings.check_link(link)
    except ValueError as error:
        text = str(error)
        raise NotLinked(f"{text[:1].upper()}{text[1:]}.") from None
    known = store.links.find(link.path)
    if known and known.origin == "settings" and not known.is_leaving:
        raise NotLinked(f"{link.path} is in the settings; change its filter there, in [[links]].")
    return dict(store.links.link(link)._asdict())


def _unlink(_: Settings, store: Store, arguments: Mapping[str, Json]) -> dict[str, Any]:
    path = str(arguments["path"])
    known = store.links.find(path) or store.links.find(os.path.realpath(path))
    if known is None:
        raise NotLinked(f"{path} is not a directory that skilldrop keeps links in.")
    if known.origin == "data":
        raise NotLinked(f"{path} belongs to the catalog; its skills are always kept.")
    if known.origin == "settings" and not known.is_leaving:
        raise NotLinked(f"{path} is in the settings; remove it there, from [[links]].")
    return dict(store.links.unlink(known)._asdict())


HANDLERS: dict[str, Handler] = {
    "rollback": _pin,
    "unpin": _pin,
    "prefer": _prefer,
    "review": _review,
    "link": _link,
    "unlink": _unlink,
}
"""Requests that run at once, by name."""
REPAIR = "repair"
"""Name of the request that runs as a full scan."""

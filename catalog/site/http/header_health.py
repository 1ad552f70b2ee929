"""Health of the service in the header of every page, looked up once a second at most."""

import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from catalog.database import stored_health
from catalog.reading import browse, disk_paths, health_summary, newest_change
from catalog.site.http.location import CatalogLocation

SECONDS = 1.0
"""Seconds for which the pages show the same health."""


@dataclass(frozen=True, slots=True)
class HeaderHealth:
    """Health in a few words, with a sentence for a page that must be loud, and the newest change.

    The change is at most as new as the things that the page shows: it is looked up before them.
    """

    tone: health_summary.Tone
    line: str
    sentence: str
    newest_change: int


async def current(location: CatalogLocation) -> HeaderHealth | None:
    """Return the health of a catalog; None if it cannot be read."""
    now = time.monotonic()
    if not location.header or now - location.header[0] > SECONDS:
        location.header[:] = now, await _looked_up(location)
    health: HeaderHealth | None = location.header[1]
    return health


async def _looked_up(location: CatalogLocation) -> HeaderHealth | None:
    def load(connection: sqlite3.Connection) -> tuple[dict[str, Any], list[str], int]:
        db = browse.over(connection)
        return (
            stored_health.load(db, location.catalog),
            list(disk_paths.folders(db)),
            newest_change.of_catalog(db),
        )

    try:
        state, folders, newest = await location.database.execute_fn(load)
    except sqlite3.DatabaseError:
        return None
    now = datetime.now(UTC)
    summary = health_summary.health(state, now)
    folders.append(str(location.catalog.absolute().parent))
    sentence = disk_paths.shortened((summary.details or (summary.sentence,))[0], folders)
    line = health_summary.headline(state, summary, now)
    return HeaderHealth(summary.tone, line, sentence, newest)

"""Full scan for a command by the service that has the catalog open."""

import time
from collections import Counter
from collections.abc import Callable

from catalog.audit import verdicts
from catalog.database import connection, requests
from catalog.reading import status as reading_status
from pipeline.config.settings import Settings
from pipeline.roots.units import WatchUnit
from pipeline.sync.report import Report
from pipeline.sync.request_handlers import REPAIR
from pipeline.sync.run_once import Result


def scan_by_service(
    settings: Settings,
    *,
    deep: bool,
    waiting: Callable[[int], None] = lambda _: None,
) -> Result:
    """Let the running service scan all roots, and return the result.

    waiting is called with the seconds that the service has taken so far. Raises RequestFailed and
    CatalogUnusable.
    """
    began = time.monotonic()
    db = connection.open_catalog(settings.catalog_path)
    checkpoint = verdicts.checkpoint(db)
    requests.ask(
        settings.catalog_path,
        REPAIR,
        {"accept_removals": False, "places": [], "deep": deep, "pull": True},
        waiting=waiting,
    )
    changes = verdicts.changes_since(db, checkpoint)
    counts = reading_status.counts(db)
    state = reading_status.load(db, settings.catalog_path)
    present = sum(counts.values()) - counts["removed"]
    outcomes = Counter(change.outcome for change in changes)
    troubles = {root["path"]: root["trouble"] for root in state["roots"] if root["trouble"]}
    return Result(
        Report(present, outcomes, troubles=troubles),
        tuple(
            WatchUnit(row["root"], row["path"]) for row in state["pending"] if not row["is_held"]
        ),
        counts["active"],
        counts["shadowed"],
        counts["rejected"],
        sum(row["skills"] for row in state["held"]),
        state["to_review"],
        time.monotonic() - began,
    )

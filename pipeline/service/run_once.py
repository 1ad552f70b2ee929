"""Scan for a command: the loop of the service, which ends when it is quiet."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from catalog.database import connection, requests
from catalog.database.connection import explained
from catalog.database.queries import Database, Row
from catalog.model.values import ChangeOutcome, Json, Status
from catalog.reading import service_health
from catalog.reading import status as reading_status
from catalog.reading.findings import finding_lists
from catalog.writing import events
from catalog.writing.packages.inspection import packaged
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.parts import Loop, Part, Work
from pipeline.service.requests import REPAIR
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.engines import Engine, processes
from pipeline.service.scans import ScanRequest
from pipeline.watch.settling import WatchUnit


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a scan."""

    report: Report
    pending: tuple[WatchUnit, ...]  # folders that never stopped changing
    counts: Mapping[Status, int]  # of all skills in the catalog
    held: int  # removals that wait for acceptance
    to_look_at: Mapping[str, int]  # as `service_health.counts` returns it
    strays: Sequence[Row]  # the first of `finding_lists.not_skills`
    seconds: float
    failures: tuple[str, ...] = ()  # of pulls and hooks, in sentences

    def as_json(self) -> dict[str, Json]:
        """Return the counts that commands print."""
        outcomes = self.report.outcomes
        return {
            "seen": self.report.folders,
            **{outcome: outcomes[outcome] for outcome in _COUNTED},
            "held": self.held,
            "pending": len(self.pending),
            "to_review": self.to_look_at["to_review"],
            "active": self.counts["active"],
            "shadowed": self.counts["shadowed"],
            "seconds": round(self.seconds, 3),
        }


_COUNTED: tuple[ChangeOutcome, ...] = (
    *("added", "updated", "unchanged", "renamed", "rejected", "removed"),
)


def scan_once(
    settings: Settings,
    store: Store,
    *,
    engine: Engine = processes,
    deep: bool = False,
    accepts_removals: bool = False,
    pulls: bool = False,
    progress: Callable[[Report], None] = lambda _: None,
) -> Result:
    """Run the loop of a service over all roots until it is quiet.

    A folder that is still changing is scanned again, up to the longest settling time.
    accepts_removals confirms all removals; with pulls, roots that are repositories are pulled
    first. Raises CatalogUnusable, and NotPossible if the disk is full.
    """
    began = time.monotonic()
    loop = Loop()
    work = Work(settings, store, loop, engine=engine)
    parts = list(work.parts())

    def step(part: Part) -> None:
        part.step()
        progress(work.scans.report)

    with explained(settings.catalog_path):
        try:
            if pulls:
                work.pulls.begin()
                loop.run(lambda: parts, step, lambda: not work.pulls.is_running)
            # Compare the copies that exist, as no service checks them.
            store.links.mend(packaged(store.db), deep=False)
            work.scans.request(
                ScanRequest("command", is_deep=deep, accepts_removals=accepts_removals)
            )
            loop.run(lambda: parts, step, lambda: work.is_done)
            work.finish()
        finally:
            work.stop()
        report = work.scans.report
        problems = [queue.problem.message for queue in work.hooks if queue.problem]
        failures = (*work.pulls.failures.values(), *problems)
        return _result(store.db, report, [*report.unsettled, *report.delayed], began, failures)


def _result(
    db: Database,
    report: Report,
    pending: Iterable[WatchUnit],
    began: float,
    failures: tuple[str, ...] = (),
) -> Result:
    return Result(
        report,
        tuple(pending),
        reading_status.counts(db),
        len(events.checkpoint(db).held),
        service_health.counts(db),
        finding_lists.not_skills(db)[:3],
        time.monotonic() - began,
        failures,
    )


def scan_by_service(
    settings: Settings,
    *,
    deep: bool,
    waiting: Callable[[int], None] = lambda _: None,
) -> Result:
    """Let the running service scan all roots, and return the result.

    waiting is called with the seconds that the service has taken so far. Raises NotPossible and
    CatalogUnusable.
    """
    began = time.monotonic()
    db = connection.open_catalog(settings.catalog_path)
    checkpoint = events.checkpoint(db)
    requests.ask(
        settings.catalog_path,
        REPAIR,
        {"accept_removals": False, "places": [], "deep": deep, "pull": True},
        waiting=waiting,
    )
    state = reading_status.load(db)
    counts = state["counts"]
    report = Report(
        folders=sum(counts.values()) - counts["removed"],
        outcomes=Counter(change.outcome for change in events.changes_since(db, checkpoint)),
        troubles={root["path"]: root["trouble"] for root in state["roots"] if root["trouble"]},
    )
    pending = [row for row in state["pending"] if not row["is_held"]]
    return _result(db, report, [WatchUnit(row["root"], row["path"]) for row in pending], began)

"""Metrics for Prometheus, read from the catalog and the database of reads at each scrape."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from datasette import Response
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from catalog.database.queries import Database, Row
from catalog.model.values import VERSION
from catalog.reading import service_health, status
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.usage import summary

_QUANTILES = (0.5, 0.9, 0.99)
MEASURED = 1000
"""Newest ingestions whose durations are measured."""
_MODES = ("native", "polling", "stopped")
_STATES = ("full", "shortened", "name_only", "left_out")


async def page(context: RequestContext) -> Response:
    """Return all metrics in the format that the client accepts."""
    families = await context.query(_families, context.location.catalog)
    registry = CollectorRegistry()
    registry.register(_Scrape(families))
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(context.request.headers.get("accept", ""))
    body = await asyncio.to_thread(encode, registry)
    return responses.of_bytes(
        context.request, body, content_type, headers={"Cache-Control": "no-store"}
    )


class _Scrape(Collector):
    """Metrics of one scrape."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        """Return all metrics."""
        return self._families


def _families(db: Database, catalog: Path) -> list[Metric]:
    """Return all metrics; those without a value yet have no sample."""
    state = service_health.load(db, catalog)
    return [
        InfoMetricFamily("skilldrop", "Release of the site.", {"version": VERSION}),
        *_of_service(db, state),
        *_of_skills(db, state),
        *_of_indexes(db.rows(_INDEXES)),
        *_of_reads(db),
    ]


def _of_service(db: Database, state: Mapping[str, Any]) -> Iterator[Metric]:
    row = state["health"]
    scans, took = db.execute(_SCAN).fetchone()
    (requests,) = db.execute(_REQUESTS).fetchone()
    is_well = service_health.summary(state, datetime.now(UTC)).is_well
    is_running = row["service_pid"] is not None and not row["service_stopped"]
    modes = {mode: mode == row["watcher_mode"] for mode in _MODES}
    failures = {trouble["part"]: trouble["times"] for trouble in state["troubles"]}
    yield _gauge("healthy", "Whether nothing needs attention, as /-/healthz says.", is_well)
    yield _gauge(
        "service_running",
        "Whether a service follows the folders; its last heartbeat says whether it still does.",
        is_running,
    )
    yield _time("service_heartbeat", "Last heartbeat of the service.", row["service_seen"])
    yield _gauge("watcher_mode", "Mode of the watcher: 1 for the present one.", modes, "mode")
    yield _counter("watcher_overflows", "Overflows of the event queue.", row["overflows"])
    yield _counter(
        "changes_missed_by_events",
        "Changes that full scans found and no event had reported.",
        row["missed_by_events"],
    )
    yield _gauge(
        "failures",
        "Failures in a row of work that will be tried again, by part of the service.",
        failures,
        "part",
    )
    yield _gauge("unreadable_roots", "Roots that cannot be read.", len(state["roots"]))
    yield _gauge("pending_folders", "Folders that wait to be scanned.", row["pending_count"])
    yield _gauge("held_removals", "Removals that wait for confirmation.", row["held_removals"])
    yield _gauge("waiting_requests", "Requests of commands that wait.", requests)
    yield _counter("scans", "Full scans that have ended.", scans)
    yield _time("last_scan", "End of the last full scan.", row["last_full_scan"])
    if took is not None:
        yield _gauge("last_scan_duration_seconds", "Duration of the last full scan.", took / 1000)


def _of_skills(db: Database, state: Mapping[str, Any]) -> Iterator[Metric]:
    skills = {str(name): number for name, number in status.counts(db).items()}
    yield _gauge("skills", "Skill folders in the catalog, by status.", skills, "status")
    findings = status.findings_by_severity(db)
    yield _gauge("findings", "Open findings, by severity.", findings, "severity")
    yield _gauge(
        "internal_errors",
        "Folders on which skilldrop failed; the log has the tracebacks.",
        state["internal_errors"],
    )
    packages, package_bytes = db.execute(_PACKAGES).fetchone()
    yield _gauge("packages", "Published versions whose files are kept.", packages)
    yield _gauge(
        "packages_bytes",
        "Size of the files of these versions; files that versions share count in each.",
        package_bytes,
    )
    (ingestions,) = db.execute(_INGESTIONS).fetchone()
    yield _counter("ingestions", "Changes of folders taken in.", ingestions)
    durations = Metric(
        "skilldrop_ingestion_duration_seconds",
        f"Time to take in a change, over the {MEASURED} newest ones.",
        "summary",
    )
    ordered = sorted(ms for (ms,) in db.execute(_NEWEST, [MEASURED]))
    for quantile in _QUANTILES if ordered else ():
        ms = ordered[min(int(quantile * len(ordered)), len(ordered) - 1)]
        durations.add_sample(durations.name, {"quantile": str(quantile)}, ms / 1000)
    yield durations


def _of_indexes(indexes: Sequence[Row]) -> Iterator[Metric]:
    skills = GaugeMetricFamily(
        "skilldrop_index_skills",
        "Skills of an index by their state; left_out is for lack of room.",
        labels=("index", "state"),
    )
    for row in indexes:
        for state in _STATES:
            skills.add_metric((row["name"], state), row[state])
    yield skills
    for name, text, column in (
        ("index_characters", "Length of the published text of an index.", "chars"),
        ("index_estimated_tokens", "Estimated tokens of that text.", "estimated_tokens"),
    ):
        yield _gauge(name, text, {row["name"]: row[column] for row in indexes}, "index")
    yield _gauge(
        "index_published_timestamp_seconds",
        "Time of the publication of an index.",
        {row["name"]: _epoch(row["published_at"]) for row in indexes},
        "index",
    )


def _of_reads(db: Database) -> Iterator[Metric]:
    totals = summary.totals(db)
    for name, text in (
        ("reads", "Reads of published skills."),
        ("index_reads", "Reads of prompt indexes."),
    ):
        if totals is not None:
            counts = {route: n for counted, route, n in totals if counted == name}
            yield _counter(name, text, counts, "route")


_INDEXES = """
    SELECT i.name, b.full, b.shortened, b.name_only, b.left_out, b.published_at, t.chars,
           t.estimated_tokens
    FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id
    JOIN index_texts AS t ON t.sha256 = b.sha256 ORDER BY i.position
"""
_SCAN = "SELECT ifnull(max(id), 0), took_ms FROM scans WHERE took_ms IS NOT NULL"
_REQUESTS = "SELECT count(*) FROM requests WHERE finished_at IS NULL"
_PACKAGES = "SELECT count(*), ifnull(sum(bytes), 0) FROM versions WHERE package_path IS NOT NULL"
_INGESTIONS = "SELECT ifnull(max(id), 0) FROM ingestions"
"""Number of all ingestions: the newest row is never deleted."""
_NEWEST = "SELECT took_ms FROM ingestions ORDER BY id DESC LIMIT ?"


_Value: TypeAlias = float | Mapping[str, float]  # with a label, a value for each of its values


def _filled(kind: Any, name: str, text: str, value: _Value, label: str = "") -> Metric:
    family = kind(f"skilldrop_{name}", text, labels=(label,) if label else ())
    for key, number in value.items() if isinstance(value, Mapping) else [("", value)]:
        family.add_metric((key,) if label else (), number)
    filled: Metric = family
    return filled


_gauge, _counter = partial(_filled, GaugeMetricFamily), partial(_filled, CounterMetricFamily)


def _time(name: str, text: str, moment: str | None) -> Metric:
    """Return a time as a metric, without a sample if the time is unknown."""
    family = GaugeMetricFamily(f"skilldrop_{name}_timestamp_seconds", text, labels=())
    if moment:
        family.add_metric((), _epoch(moment))
    return family


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()

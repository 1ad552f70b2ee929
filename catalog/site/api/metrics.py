"""Metrics for Prometheus, read from the catalog and the database of reads at each scrape."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from datasette import Response
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from catalog.model.version import VERSION
from catalog.reading import health_summary, status
from catalog.reading.browse import Catalog
from catalog.reading.status import Measurements
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.usage import summary

_QUANTILES = (0.5, 0.9, 0.99)
_MODES = ("native", "polling", "stopped")
_STATES = ("full", "shortened", "name_only", "left_out")


async def page(context: RequestContext) -> Response:
    """Return all metrics in the format that the client accepts."""
    values, totals = await context.query(_load, context.location.catalog)
    registry = CollectorRegistry()
    registry.register(_Families(values, totals, datetime.now(UTC)))
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(context.request.headers.get("accept", ""))
    body = await asyncio.to_thread(encode, registry)
    return responses.of_bytes(
        context.request, body, content_type, headers={"Cache-Control": "no-store"}
    )


def _load(db: Catalog, *arguments: Any) -> tuple[Measurements, summary.Totals | None]:
    return status.measured(db, *arguments), summary.totals(db)


class _Families(Collector):
    """Metrics of one scrape, from values that were read for it."""

    def __init__(self, values: Measurements, totals: summary.Totals | None, now: datetime) -> None:
        self._values, self._totals, self._now = values, totals, now

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics; those without a value yet have no sample."""
        yield InfoMetricFamily("skilldrop", "Release of the site.", {"version": VERSION})
        yield from _of_service(self._values, self._now)
        yield from _of_skills(self._values)
        yield from _of_work(self._values)
        yield from _of_indexes(self._values)
        if self._totals is not None:
            yield from _of_reads(self._totals)


def _of_service(values: Measurements, now: datetime) -> Iterator[Metric]:
    row = values.state["health"]
    is_well = health_summary.health(values.state, now).is_well
    yield _gauge("healthy", "Whether nothing needs attention, as /-/healthz says.", is_well)
    yield _gauge(
        "service_running",
        "Whether a service follows the folders; its last heartbeat says whether it still does.",
        row["service_pid"] is not None and not row["service_stopped"],
    )
    yield _time("service_heartbeat", "Last heartbeat of the service.", row["service_seen"])
    yield _gauges(
        "watcher_mode",
        "Mode of the watcher: 1 for the present one.",
        "mode",
        {mode: mode == row["watcher_mode"] for mode in _MODES},
    )
    yield _counter("watcher_overflows", "Overflows of the event queue.", row["overflows"])
    yield _counter(
        "changes_missed_by_events",
        "Changes that full scans found and no event had reported.",
        row["missed_by_events"],
    )
    yield _gauges(
        "failures",
        "Failures in a row of work that will be tried again, by part of the service.",
        "part",
        {trouble["part"]: trouble["times"] for trouble in values.state["troubles"]},
    )
    yield _gauge("unreadable_roots", "Roots that cannot be read.", len(values.state["roots"]))


def _of_skills(values: Measurements) -> Iterator[Metric]:
    yield _gauges("skills", "Skill folders in the catalog, by status.", "status", values.skills)
    yield _gauges("findings", "Open findings, by severity.", "severity", values.findings)
    yield _gauge(
        "internal_errors",
        "Folders on which skilldrop failed; the log has the tracebacks.",
        values.state["internal_errors"],
    )
    yield _gauge("packages", "Published versions whose files are kept.", values.packages)
    yield _gauge(
        "packages_bytes",
        "Size of the files of these versions; files that versions share count in each.",
        values.package_bytes,
    )


def _of_work(values: Measurements) -> Iterator[Metric]:
    row = values.state["health"]
    yield _gauge("pending_folders", "Folders that wait to be scanned.", row["pending_count"])
    yield _gauge("held_removals", "Removals that wait for confirmation.", row["held_removals"])
    yield _gauge("waiting_requests", "Requests of commands that wait.", values.requests)
    yield _counter("scans", "Full scans that have ended.", values.scan["number"])
    yield _time("last_scan", "End of the last full scan.", row["last_full_scan"])
    if (ms := values.scan["took_ms"]) is not None:
        yield _gauge("last_scan_duration_seconds", "Duration of the last full scan.", ms / 1000)
    yield _counter("ingestions", "Changes of folders taken in.", values.ingestions)
    durations = Metric(
        "skilldrop_ingestion_duration_seconds",
        f"Time to take in a change, over the {status.MEASURED} newest ones.",
        "summary",
    )
    for quantile in _QUANTILES if values.ingestion_ms else ():
        durations.add_sample(
            durations.name,
            {"quantile": str(quantile)},
            _quantile(values.ingestion_ms, quantile) / 1000,
        )
    yield durations


def _of_indexes(values: Measurements) -> Iterator[Metric]:
    skills = GaugeMetricFamily(
        "skilldrop_index_skills",
        "Skills of an index by their state; left_out is for lack of room.",
        labels=("index", "state"),
    )
    for row in values.indexes:
        for state in _STATES:
            skills.add_metric((row["name"], state), row[state])
    yield skills
    for name, text, column in (
        ("index_characters", "Length of the published text of an index.", "chars"),
        ("index_estimated_tokens", "Estimated tokens of that text.", "estimated_tokens"),
    ):
        yield _gauges(name, text, "index", {row["name"]: row[column] for row in values.indexes})
    yield _gauges(
        "index_published_timestamp_seconds",
        "Time of the publication of an index.",
        "index",
        {row["name"]: _epoch(row["published_at"]) for row in values.indexes},
    )


def _of_reads(totals: summary.Totals) -> Iterator[Metric]:
    for counted, text in (
        ("reads", "Reads of published skills."),
        ("index_reads", "Reads of prompt indexes."),
    ):
        family = CounterMetricFamily(f"skilldrop_{counted}", text, labels=("route",))
        for name, route, number in totals:
            if name == counted:
                family.add_metric((route,), number)
        yield family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"skilldrop_{name}", text, value)


def _gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"skilldrop_{name}", text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"skilldrop_{name}", text, value)


def _time(name: str, text: str, moment: str | None) -> Metric:
    """Return a time as a metric; without a sample if there is none yet."""
    family = GaugeMetricFamily(f"skilldrop_{name}_timestamp_seconds", text, labels=())
    if moment:
        family.add_metric((), _epoch(moment))
    return family


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _quantile(ordered: Sequence[float], quantile: float) -> float:
    return ordered[min(int(quantile * len(ordered)), len(ordered) - 1)]

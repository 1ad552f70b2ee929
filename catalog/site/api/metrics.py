"""Metrics for Prometheus, read from the catalog and the database of reads at each scrape."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

from datasette import Response
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from catalog.database.queries import Database, Row
from catalog.model.values import VERSION
from catalog.reading import health_summary, status
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


def _load(db: Database, *arguments: Any) -> tuple[Measurements, summary.Totals | None]:
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
        yield from _of_indexes(self._values.indexes)
        for name, text in (
            ("reads", "Reads of published skills."),
            ("index_reads", "Reads of prompt indexes."),
        ):
            if self._totals is not None:
                counts = {route: n for counted, route, n in self._totals if counted == name}
                yield _counter(name, text, counts, "route")


def _of_service(values: Measurements, now: datetime) -> Iterator[Metric]:
    row, state, took = values.state["health"], values.state, values.scan["took_ms"]
    is_well = health_summary.health(state, now).is_well
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
    yield _gauge("waiting_requests", "Requests of commands that wait.", values.requests)
    yield _counter("scans", "Full scans that have ended.", values.scan["number"])
    yield _time("last_scan", "End of the last full scan.", row["last_full_scan"])
    if took is not None:
        yield _gauge("last_scan_duration_seconds", "Duration of the last full scan.", took / 1000)


def _of_skills(values: Measurements) -> Iterator[Metric]:
    yield _gauge("skills", "Skill folders in the catalog, by status.", values.skills, "status")
    yield _gauge("findings", "Open findings, by severity.", values.findings, "severity")
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
    yield _counter("ingestions", "Changes of folders taken in.", values.ingestions)
    durations = Metric(
        "skilldrop_ingestion_duration_seconds",
        f"Time to take in a change, over the {status.MEASURED} newest ones.",
        "summary",
    )
    ordered = values.ingestion_ms
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

"""Metrics for Prometheus: those that an alert needs, read from the catalog at each scrape."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

from datasette import Response
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from catalog.database.queries import Database
from catalog.reading import service_health, status
from catalog.site.http import responses
from catalog.site.http.request import RequestContext


async def page(context: RequestContext) -> Response:
    """Return all metrics in the format that the client accepts."""
    families = await context.query(_families)
    registry = CollectorRegistry()
    registry.register(_Scrape(families))
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


def _families(db: Database) -> list[Metric]:
    """Return all metrics; those without a value yet have no sample."""
    state = service_health.load(db)
    return [*_of_service(state), *_of_catalog(db, state)]


def _of_service(state: Mapping[str, Any]) -> Iterator[Metric]:
    row = state["health"]
    is_well = service_health.summary(state, datetime.now(UTC)).is_well
    failures = {trouble["part"]: trouble["times"] for trouble in state["troubles"]}
    yield _gauge("healthy", "Whether nothing needs attention.", is_well)
    yield _time("service_heartbeat", "Last heartbeat of the service.", row["service_seen"])
    yield _time("last_scan", "End of the last full scan.", row["last_full_scan"])
    yield _gauge(
        "failures",
        "Failures in a row of work that will be tried again, by part of the service.",
        failures,
        "part",
    )
    yield _gauge("pending_folders", "Folders that wait to be scanned.", row["pending_count"])
    yield _gauge("held_removals", "Removals that wait for confirmation.", row["held_removals"])
    yield _counter("watcher_overflows", "Overflows of the event queue.", row["overflows"])
    yield _counter(
        "changes_missed_by_events",
        "Changes that full scans found and no event had reported.",
        row["missed_by_events"],
    )


def _of_catalog(db: Database, state: Mapping[str, Any]) -> Iterator[Metric]:
    skills = {str(name): number for name, number in status.counts(db).items()}
    yield _gauge("skills", "Skill folders in the catalog, by status.", skills, "status")
    findings = status.findings_by_severity(db)
    yield _gauge("findings", "Open findings, by severity.", findings, "severity")
    yield _gauge(
        "internal_errors",
        "Folders on which skilldrop failed; the log has the tracebacks.",
        state["internal_errors"],
    )
    left_out = dict(db.execute(_LEFT_OUT).fetchall())
    text = "Skills that an index leaves out for lack of room."
    yield _gauge("index_left_out_skills", text, left_out, "index")
    yield _gauge(
        "packages_bytes",
        "Size of the files of the versions that are kept.",
        db.execute(_PACKAGES).fetchone()[0],
    )


_LEFT_OUT = """
    SELECT i.name, b.left_out FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id
    ORDER BY i.position
"""
_PACKAGES = "SELECT ifnull(sum(bytes), 0) FROM versions WHERE package_path IS NOT NULL"


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
        family.add_metric((), datetime.fromisoformat(moment).timestamp())
    return family

"""Metrics for Prometheus."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families

from tests.support.sites import Site

Samples = dict[tuple[str, ...], float]
"""Values by the name of a sample and the values of its labels."""


def samples(response: httpx.Response) -> Samples:
    """Return all samples of a response in the text format, which must be valid."""
    assert response.status_code == 200, response.text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def test_a_scrape_has_the_state_of_the_catalog(own_site: Site) -> None:
    """Skills by status, findings, scans and indexes."""
    response = own_site.get("/-/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.headers["cache-control"] == "no-store"
    values = samples(response)
    assert values["skilldrop_skills", "shadowed"] == 1
    assert values["skilldrop_skills", "removed"] == 1
    assert values["skilldrop_findings", "error"] >= 1
    assert values["skilldrop_last_scan_timestamp_seconds",] > 0
    assert values["skilldrop_watcher_overflows_total",] == 0
    assert values["skilldrop_index_left_out_skills", "default"] >= 1
    assert values["skilldrop_healthy",] == 1


def test_packages_have_their_bytes(catalog: Path, serve: Callable[..., Site]) -> None:
    """Each kept version counts with all its files."""
    with closing(sqlite3.connect(catalog)) as db:
        db.execute(
            "UPDATE versions SET package_path = skill_id || '/' || version,"
            " file_inventory = '{\"totalSizeBytes\": 700}' WHERE skill_id IN ('dup', 'secret')"
        )
        (kept,) = db.execute(
            "SELECT count(*) FROM versions WHERE package_path IS NOT NULL"
        ).fetchone()
        db.commit()
    assert samples(serve(catalog).get("/-/metrics"))["skilldrop_packages_bytes",] == 700 * kept


def test_folders_on_which_skilldrop_failed_are_counted(
    catalog: Path, serve: Callable[..., Site]
) -> None:
    """An alert can tell of a mistake of skilldrop that its log explains."""
    assert samples(serve(catalog).get("/-/metrics"))["skilldrop_internal_errors",] == 0
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("UPDATE findings SET code = 'internal-error' WHERE id IN (1, 2)")
        db.commit()
    assert samples(serve(catalog).get("/-/metrics"))["skilldrop_internal_errors",] == 2


def test_failures_of_the_service_have_their_part(catalog: Path, serve: Callable[..., Site]) -> None:
    """An alert can name what fails."""
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("UPDATE health SET service_pid = 1, service_seen = '2026-11-22T10:00:00+00:00'")
        db.execute(
            "UPDATE health SET troubles = json_array(json_object('part', 'indexes',"
            " 'message', 'No.', 'since', '2026-11-22', 'times', 3, 'last_at', '2026-11-22'))"
        )
        db.commit()
    values = samples(serve(catalog).get("/-/metrics"))
    assert values["skilldrop_failures", "indexes"] == 3
    assert values["skilldrop_healthy",] == 0
    assert values["skilldrop_service_heartbeat_timestamp_seconds",] == 1795341600


def test_names_follow_the_conventions_of_prometheus(own_site: Site) -> None:
    """Counters end in _total, every family has a help text, and no name exists twice."""
    families = list(text_string_to_metric_families(own_site.get("/-/metrics").text))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        assert family.documentation, family.name
        assert family.name.startswith("skilldrop_")
        assert family.type != "counter" or all(
            sample.name.endswith("_total") for sample in family.samples
        )
        assert not family.name.endswith(("_ms", "_chars", "_count"))


def test_a_client_may_ask_for_openmetrics(own_site: Site) -> None:
    """Prometheus prefers that format."""
    response = own_site.ask(
        "get", "/-/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    assert response.headers["content-type"].startswith("application/openmetrics-text")
    families: list[Metric] = list(parse_open(response.text))  # type: ignore[no-untyped-call]
    assert "skilldrop_skills" in {family.name for family in families}


def test_a_scrape_that_takes_too_long_is_refused(
    own_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prometheus then shows the target as down, and the site has its thread again."""
    monkeypatch.setattr(own_site.datasette, "sql_time_limit_ms", 1)
    monkeypatch.setattr(
        "catalog.site.api.metrics._PACKAGES",
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    )
    response = own_site.get("/-/metrics")
    assert response.status_code == 503
    assert response.headers["retry-after"]

"""Tests that show a requirement of a specification: they must run."""

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a skipped test fail if docs/conformance.md refers to it."""
    report = yield
    if report.skipped and item.get_closest_marker("requirement"):
        report.outcome = "failed"
        report.longrepr = f"it shows a requirement and must not be skipped: {report.longrepr}"
        vars(report).pop("wasxfail", None)  # of an expected failure, which would not count
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let a module that is skipped as a whole fail if one of its tests has the mark."""
    report = yield
    if report.skipped and "mark.requirement(" in collector.path.read_text("utf-8"):
        report.outcome = "failed"
        report.longrepr = "its tests show requirements and must not be skipped"
    return report

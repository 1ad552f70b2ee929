"""Verdicts of the benchmarks on two commits."""

import importlib
from collections.abc import Sequence
from types import ModuleType

import pytest

from tests.support.paths import REPOSITORY


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return modules of the benchmarks, which import each other from their folder."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return {name: importlib.import_module(name) for name in ("commits", "compare", "work")}


def test_six_pairs_are_the_fewest(modules: dict[str, ModuleType]) -> None:
    """Five times the same side of a coin has a chance of 6 %, six times one of 3 %."""
    assert modules["compare"].FEWEST == 6


def test_the_interval_has_the_ranks_of_the_sign_test(modules: dict[str, ModuleType]) -> None:
    """Published tables: ranks 1 and 8 of 8 values, 2 and 8 of 9, 6 and 15 of 20."""
    interval = modules["compare"].interval
    assert [interval(range(1, count + 1)) for count in (8, 9, 20)] == [(1, 8), (2, 8), (6, 15)]


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.04] * 9, "slower"),
        ([0.96] * 9, "faster"),
        ([0.999] * 9, ""),
        ([0.9, 0.9, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1], ""),
    ],
)
def test_a_verdict_needs_the_interval_and_a_size(
    modules: dict[str, ModuleType], ratios: Sequence[float], verdict: str
) -> None:
    """Neither a sure change of a thousandth nor a large one that may be noise has a verdict."""
    assert modules["compare"].verdict(ratios) == verdict


@pytest.mark.parametrize(
    ("code", "stderr", "reason"),
    [
        (0, "a warning\n", ""),
        (1, "", ""),
        (1, "Traceback:\n  import x\nImportError: x\n\n", "ImportError: x"),
        (3, "", "exit code 3"),
    ],
)
def test_a_crash_is_no_finding(
    modules: dict[str, ModuleType], code: int, stderr: str, reason: str
) -> None:
    """Both end with 1, but only a crash says something; its last line is the reason."""
    assert modules["commits"].failure(code, stderr) == reason


def test_a_complaint_says_what_became_more(modules: dict[str, ModuleType]) -> None:
    """A twentieth is allowed; the sentence has the task, both ratios, the change and the limit."""
    before = {"cold scan": 6.0, "validate": 3.0}
    now = {"cold scan": 6.3, "validate": 3.18}
    (complaint,) = modules["work"].complaints(now, before, "work.json")
    assert complaint == (
        "validate: 3.18 times the work of the floor per skill, 6.0% more than 3.0 of work.json; "
        "5% is allowed."
    )

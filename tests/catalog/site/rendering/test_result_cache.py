"""Cache of results, which threads share."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from catalog.site.rendering.result_cache import ResultCache
from tests.support.waiting import PATIENCE


def test_results_are_kept_up_to_a_size() -> None:
    """One that is asked for again is not made again; the one not asked for longest goes first."""
    made: list[str] = []
    kept: ResultCache[str] = ResultCache(10, len)

    def result(key: str) -> str:
        return kept.get(key, lambda: made.append(key) or key * 4)

    assert [result(key) for key in "abacab"] == [key * 4 for key in "abacab"]
    assert made == ["a", "b", "c", "b"]


def test_a_result_is_made_again_in_another_state() -> None:
    """It takes the place of the older one, so that each key has one result."""
    kept: ResultCache[str] = ResultCache(2, lambda _: 1)
    made: list[int] = []

    def result(key: str, state: int) -> str:
        return kept.get(key, lambda: made.append(state) or f"{key}{state}", state)

    assert [result("a", state) for state in (1, 1, 2, 2)] == ["a1", "a1", "a2", "a2"]
    assert result("b", 2) == "b2"
    assert result("a", 2) == "a2"
    assert made == [1, 2, 2]


def test_a_slow_result_stops_only_those_who_need_it() -> None:
    """Another thread waits for the same key; other keys are answered meanwhile."""
    kept: ResultCache[str] = ResultCache(10, len)
    has_begun, may_end = threading.Event(), threading.Event()
    made: list[str] = []

    def slow() -> str:
        has_begun.set()
        may_end.wait(PATIENCE)
        made.append("slow")
        return "slow"

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(kept.get, "slow", slow) for _ in range(2)]
        assert has_begun.wait(PATIENCE)
        assert kept.get("fast", lambda: "fast") == "fast"
        assert not any(result.done() for result in asked)
        may_end.set()
        assert [result.result(PATIENCE) for result in asked] == ["slow", "slow"]
    assert made == ["slow"]


def test_a_result_that_failed_is_made_by_the_next() -> None:
    """The error is that of one request."""
    kept: ResultCache[str] = ResultCache(10, len)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: str(1 // 0))
    assert kept.get("a", lambda: "a") == "a"

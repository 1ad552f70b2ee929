"""Parts at intervals while the system clock is changed."""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pipeline.service import loop
from pipeline.service.loop import JITTER, Timer


class Clock(datetime):
    """System clock of the service, which can be set."""

    step = timedelta()

    @classmethod
    def now(cls, tz: object = None) -> "Clock":
        """Return the time that was set."""
        return cls.fromtimestamp((datetime.now(UTC) + cls.step).timestamp(), UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    """Return a clock that the service uses."""
    monkeypatch.setattr(loop, "datetime", Clock)
    Clock.step = timedelta()
    return Clock


@pytest.fixture
def elapsed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds of the monotonic clock of the service, which the test sets."""
    seconds = [time.monotonic()]
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds


@pytest.mark.parametrize("hours", [-1, 1, 24 * 365 * 50])
def test_a_changed_clock_does_not_change_the_interval_of_a_part(
    clock: type[Clock], elapsed: list[float], hours: int
) -> None:
    """The part runs neither an hour late nor many times at once."""
    timer, runs = Timer(100.0), list[float]()
    part = timer.part("work", lambda: runs.append(elapsed[0]))
    for second in range(1000):
        if second == 500:
            clock.step = timedelta(hours=hours)
        elapsed[0] += 1.0
        if part.due(elapsed[0]) == 0.0:
            part.step()
            due = timer.next_run - clock.now()
            assert 99.0 < due.total_seconds() < 100.0 * (1 + JITTER) + 1.0
    assert len(runs) == 9
    assert all(100.0 <= later - run <= 106.0 for run, later in pairwise(runs))


@pytest.mark.requirement("card/timer")
def test_the_next_run_is_known_and_has_jitter() -> None:
    """It is an interval from now, and by a part of that later, another one each time."""
    seconds = {
        round((Timer(1000.0).next_run - datetime.now(UTC)).total_seconds()) for _ in range(5)
    }
    assert min(seconds) >= 1000 * (1 - JITTER) - 5
    assert max(seconds) <= 1000 * (1 + JITTER) + 5
    assert len(seconds) > 1


@pytest.mark.requirement("card/timer")
def test_missed_runs_are_not_made_up_for(elapsed: list[float]) -> None:
    """A machine may have been stopped for years."""
    runs: list[float] = []
    part = Timer(0.1).part("work", lambda: runs.append(elapsed[0]))
    for _ in range(3):
        elapsed[0] += 3600 * 24 * 365 * 50
        assert part.due(elapsed[0]) == 0.0
        part.step()
        due = part.due(elapsed[0])
        assert due
        assert due < 0.2
    assert len(runs) == 3

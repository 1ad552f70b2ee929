"""Jobs at intervals while somebody sets the clock."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import apscheduler.schedulers.base
import pytest

from pipeline.service.timer import Timer
from tests.support.waiting import PATIENCE


class Clock(datetime):
    """The system's clock, as far as the scheduler asks it, which can be set."""

    step = timedelta()

    @classmethod
    def now(cls, tz: object = None) -> "Clock":
        """Return the time of day that was set."""
        return cls.fromtimestamp((datetime.now(UTC) + cls.step).timestamp(), UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Clock]]:
    """Return a clock that the scheduler goes by."""
    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Clock)
    monkeypatch.setattr("pipeline.service.timer.datetime", Clock)
    Clock.step = timedelta()
    return Clock


@pytest.mark.parametrize("hours", [-1, 1, 24 * 365 * 50])
def test_a_job_runs_at_its_interval_though_the_clock_is_set(clock: type[Clock], hours: int) -> None:
    """Neither an hour later nor many times at once."""
    timer, ran = Timer(), threading.Semaphore(0)
    timer.every(0.1, "work", ran.release)
    timer.start()
    try:
        timer.keep_pace(time.monotonic(), clock.now())
        assert ran.acquire(timeout=PATIENCE)
        clock.step = timedelta(hours=hours)
        assert timer.keep_pace(time.monotonic(), clock.now()) == pytest.approx(3600 * hours, abs=1)
        for _ in range(2):
            end = time.monotonic() + PATIENCE
            while not ran.acquire(timeout=0.2):  # as the service does it
                assert time.monotonic() < end
                timer.keep_pace(time.monotonic(), clock.now())
    finally:
        timer.stop()


def test_runs_that_were_missed_are_not_counted(clock: type[Clock]) -> None:
    """A machine without a clock of its own may begin in 1970, and jump to now at any moment."""
    timer, ran = Timer(), threading.Semaphore(0)
    timer.every(0.1, "work", ran.release)
    timer.start()
    try:
        clock.step = timedelta(days=365 * 50)  # and nobody has told the timer yet
        for _ in range(3):
            assert ran.acquire(timeout=PATIENCE)
    finally:
        timer.stop()


def test_clocks_that_drift_apart_move_nothing() -> None:
    """A time service corrects a clock by milliseconds all the time."""
    timer = Timer()
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert timer.keep_pace(0.0, noon) == 0.0
    assert timer.keep_pace(10.0, noon + timedelta(seconds=10.4)) == 0.0
    assert timer.keep_pace(20.0, noon + timedelta(seconds=21.2)) == pytest.approx(1.2)
    assert timer.keep_pace(30.0, noon + timedelta(seconds=31.2)) == 0.0

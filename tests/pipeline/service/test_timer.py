"""Jobs at intervals while the system clock is changed."""

import threading
import time
from datetime import UTC, datetime, timedelta

import apscheduler.schedulers.base
import pytest

from pipeline.service.timer import Timer
from tests.support.waiting import PATIENCE


class Clock(datetime):
    """System clock of the scheduler, which can be set."""

    step = timedelta()

    @classmethod
    def now(cls, tz: object = None) -> "Clock":
        """Return the time that was set."""
        return cls.fromtimestamp((datetime.now(UTC) + cls.step).timestamp(), UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    """Return a clock that the scheduler uses."""
    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Clock)
    monkeypatch.setattr("pipeline.service.timer.datetime", Clock)
    Clock.step = timedelta()
    return Clock


@pytest.mark.parametrize("hours", [-1, 1, 24 * 365 * 50])
def test_a_changed_clock_does_not_change_the_interval_of_a_job(
    clock: type[Clock], hours: int
) -> None:
    """The job runs neither an hour late nor many times at once."""
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


def test_missed_runs_are_not_made_up_for(clock: type[Clock]) -> None:
    """The clock of a small machine may start in 1970 and jump to the present at any moment."""
    timer, ran = Timer(), threading.Semaphore(0)
    timer.every(0.1, "work", ran.release)
    timer.start()
    try:
        clock.step = timedelta(days=365 * 50)  # and nobody has told the timer yet
        for _ in range(3):
            assert ran.acquire(timeout=PATIENCE)
    finally:
        timer.stop()


def test_a_small_drift_reschedules_nothing() -> None:
    """A time service corrects the clock by milliseconds all the time."""
    timer = Timer()
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert timer.keep_pace(0.0, noon) == 0.0
    assert timer.keep_pace(10.0, noon + timedelta(seconds=10.4)) == 0.0
    assert timer.keep_pace(20.0, noon + timedelta(seconds=21.2)) == pytest.approx(1.2)
    assert timer.keep_pace(30.0, noon + timedelta(seconds=31.2)) == 0.0

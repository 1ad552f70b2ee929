"""Jobs at intervals while the system clock is changed."""

import threading
import time
from datetime import UTC, datetime, timedelta

import apscheduler.schedulers.base
import apscheduler.triggers.interval
import pytest

from pipeline.service import timer as timer_module
from pipeline.service.timer import JITTER, Timer
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
    for module in (apscheduler.schedulers.base, apscheduler.triggers.interval, timer_module):
        monkeypatch.setattr(module, "datetime", Clock)
    Clock.step = timedelta()
    return Clock


@pytest.mark.parametrize("hours", [-1, 1, 24 * 365 * 50])
def test_a_changed_clock_does_not_change_the_interval_of_a_job(
    clock: type[Clock], hours: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The job runs neither an hour late nor many times at once."""
    timer, ran = Timer(), threading.Semaphore(0)
    timer.every(0.1, "work", ran.release)
    timer.start()
    try:
        timer.keep()
        assert ran.acquire(timeout=PATIENCE)
        clock.step = timedelta(hours=hours)
        timer.keep()
        direction = "forward" if hours > 0 else "back"
        assert f"system clock was set {direction} by {abs(hours) * 3600} s" in caplog.messages
        began, runs = time.monotonic(), 0
        while time.monotonic() < began + 1.0:
            runs += ran.acquire(timeout=0.1)
        assert 2 <= runs <= 12
    finally:
        timer.stop()


@pytest.mark.requirement("card/timer")
def test_the_next_run_is_known_and_has_jitter() -> None:
    """It is an interval from now, and by a part of that later, another one each time."""
    timer, seconds = Timer(), set[float]()
    timer.every(1000, "work", lambda: None)
    assert timer.next_run("work") is None
    try:
        for _ in range(5):
            timer.start()
            due = timer.next_run("work")
            assert due
            seconds.add(round((due - datetime.now(UTC)).total_seconds()))
    finally:
        timer.stop()
    assert min(seconds) >= 1000 * (1 - JITTER) - 5
    assert max(seconds) <= 1000 * (1 + JITTER) + 5
    assert len(seconds) > 1


@pytest.mark.requirement("card/timer")
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


def test_a_small_drift_reschedules_nothing(
    clock: type[Clock], caplog: pytest.LogCaptureFixture
) -> None:
    """A time service corrects the clock by milliseconds all the time; in sum, it is a change."""
    timer = Timer()
    timer.start()
    try:
        for seconds in (0.0, 0.4, 0.8):
            clock.step = timedelta(seconds=seconds)
            timer.keep()
        assert not caplog.messages
        clock.step = timedelta(seconds=1.2)
        timer.keep()
        timer.keep()
        assert caplog.messages == ["system clock was set forward by 1 s"]
    finally:
        timer.stop()

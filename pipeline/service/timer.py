"""Timer of jobs at regular intervals, which a change of the system clock does not delay."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

log = logging.getLogger("skilldrop")

STEP = 1.0
"""Seconds of difference between the two clocks that count as a change of the system clock."""
JITTER = 0.05
"""Part of an interval by which a run may be later, so that services do not pull all at once."""
THREAD = "APScheduler"
"""Name of the thread of a BackgroundScheduler."""


class Timer:
    """Scheduler of jobs, which run in its own threads; `keep` is called about once a second.

    APScheduler stores the next run as a time of day, so a clock set back by an hour would delay a
    job by an hour.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[float, Callable[[], None]]] = {}
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._offset: float | None = None

    def every(self, seconds: float, name: str, work: Callable[[], None]) -> None:
        """Add a job that runs at intervals, first after one interval."""
        self._jobs[name] = seconds, work

    def start(self) -> None:
        """Start the jobs, each after one interval from now."""
        self.stop()
        self._scheduler = BackgroundScheduler(timezone="UTC")
        for name, (seconds, work) in self._jobs.items():
            self._scheduler.add_job(
                work,
                _Interval(seconds=seconds, jitter=seconds * JITTER, timezone="UTC"),
                id=name,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
            )
        self._scheduler.start()

    def next_run(self, name: str) -> datetime | None:
        """Return the time of the next run of a job."""
        job = self._scheduler.get_job(name)
        time_of_run: datetime | None = job and job.next_run_time
        return time_of_run

    def stop(self) -> None:
        """Stop all jobs."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def keep(self) -> None:
        """Start the jobs again if the system clock was set, or if the thread has died."""
        offset = datetime.now(UTC).timestamp() - time.monotonic()
        step = 0.0 if self._offset is None else offset - self._offset
        if self._offset is None or abs(step) >= STEP:  # small steps add up
            self._offset = offset
        if abs(step) >= STEP:
            direction = "forward" if step > 0 else "back"
            log.warning("system clock was set %s by %.0f s", direction, abs(step))
            self.start()
        elif not any(thread.name == THREAD for thread in threading.enumerate()):
            log.warning("timer of the full scans died and was restarted")
            self.start()


class _Interval(IntervalTrigger):  # type: ignore[misc]  # the package has no types
    """Interval that skips missed runs, which a clock set forward by decades has by the million."""

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """Return the next run, one interval after the last one or, if that is over, after now."""
        if previous_fire_time and now - previous_fire_time > self.interval:
            previous_fire_time = now
        next_time: datetime | None = super().get_next_fire_time(previous_fire_time, now)
        return next_time

"""Timer of jobs at regular intervals, robust against changes of the system clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

STEP = 1.0
"""Seconds of difference between the two clocks that count as a change of the system clock."""


class Timer:
    """Scheduler whose jobs keep their intervals by the monotonic clock.

    APScheduler stores the next run as a time of day, so a clock set back by an hour would delay a
    job by an hour. Each run is a separate job, because the interval trigger counts every missed
    run: a clock set forward by decades would keep it busy for minutes.
    """

    def __init__(self) -> None:
        """Create a timer without jobs; it runs nothing until `start`."""
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._offset: float | None = None
        self._last_runs: dict[str, float] = {}  # by job, on the monotonic clock
        self._jobs: dict[str, tuple[float, Callable[[], None]]] = {}

    def every(self, seconds: float, name: str, work: Callable[[], None]) -> None:
        """Add a job that runs at intervals, first after one interval."""

        def run() -> None:
            self._last_runs[name] = time.monotonic()
            try:
                work()
            finally:
                self._run_in(name, seconds)

        self._jobs[name], self._last_runs[name] = (seconds, run), time.monotonic()

    def start(self) -> None:
        """Start the jobs in threads of the scheduler."""
        for name, (seconds, _) in self._jobs.items():
            self._run_in(name, seconds)
        self._scheduler.start()

    def revive(self) -> bool:
        """Replace the scheduler if its thread has died; return whether it was replaced."""
        if self._scheduler._thread.is_alive():  # not available in the public interface
            return False
        self._scheduler.shutdown(wait=False)
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self.start()
        return True

    def stop(self) -> None:
        """Stop all jobs."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def keep_pace(self, now: float, clock: datetime) -> float:
        """Correct the next run of each job; return the step of the system clock in seconds.

        Call it about once a second; `now` is seconds on the monotonic clock. It reschedules runs
        that were lost, or planned before the system clock was changed.
        """
        offset = clock.timestamp() - now
        step = 0.0 if self._offset is None else offset - self._offset
        for name, (seconds, _) in self._jobs.items():
            wait = self._last_runs[name] + seconds - now
            job = self._scheduler.get_job(name)
            planned = (job.next_run_time - clock).total_seconds() if job else -2 * STEP
            if abs(planned - wait) > STEP and (job or wait < -STEP):
                self._run_in(name, max(0.0, wait))
        if self._offset is not None and abs(step) < STEP:
            return 0.0
        self._offset = offset
        return step

    def due(self) -> dict[str, datetime]:
        """Return the next run of each job, by the system clock."""
        return {job.id: job.next_run_time.astimezone(UTC) for job in self._scheduler.get_jobs()}

    def _run_in(self, name: str, seconds: float) -> None:
        """Reschedule a job to run once, after some seconds."""
        self._scheduler.add_job(
            self._jobs[name][1],
            "date",
            run_date=datetime.now(UTC) + timedelta(seconds=seconds),
            id=name,
            replace_existing=True,
            max_instances=2,
            misfire_grace_time=None,
        )

"""Jobs at regular intervals, run by APScheduler whatever is done to the system's clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

STEP = 1.0
"""Seconds by which the two clocks must differ before the system's counts as set."""


class Timer:
    """A scheduler whose jobs keep their intervals by the monotonic clock.

    APScheduler notes when a job is next due as a time of day, so that a clock set back an hour
    would delay it by an hour. Each run is a job of its own, as its interval trigger counts every
    run that was missed: a clock set forward by decades would keep it busy for minutes.
    """

    def __init__(self) -> None:
        """Make a timer without jobs, which stands still until `start`."""
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._offset: float | None = None
        self._ran: dict[str, float] = {}  # when each job ran last, on the monotonic clock
        self._jobs: dict[str, tuple[float, Callable[[], None]]] = {}

    def every(self, seconds: float, name: str, work: Callable[[], None]) -> None:
        """Run something at intervals, first when one has passed."""

        def run() -> None:
            self._ran[name] = time.monotonic()
            try:
                work()
            finally:
                self._run_in(name, seconds)

        self._jobs[name], self._ran[name] = (seconds, run), time.monotonic()

    def start(self) -> None:
        """Begin to run the jobs, in threads of the scheduler's own."""
        for name, (seconds, _) in self._jobs.items():
            self._run_in(name, seconds)
        self._scheduler.start()

    def revive(self) -> bool:
        """Start another scheduler where the thread of this one has died; tell whether it had."""
        if self._scheduler._thread.is_alive():  # no public name tells
            return False
        self._scheduler.shutdown(wait=False)
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self.start()
        return True

    def stop(self) -> None:
        """Run no job any more."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def keep_pace(self, now: float, clock: datetime) -> float:
        """See to it that each job is due when its interval is over; return the step of the clock.

        now is seconds on the monotonic clock. To be called about once a second: a run that was
        put down by a clock which has been set since, or was lost, is put right here.
        """
        offset = clock.timestamp() - now
        step = 0.0 if self._offset is None else offset - self._offset
        for name, (seconds, _) in self._jobs.items():
            wait = self._ran[name] + seconds - now
            job = self._scheduler.get_job(name)
            planned = (job.next_run_time - clock).total_seconds() if job else -2 * STEP
            if abs(planned - wait) > STEP and (job or wait < -STEP):
                self._run_in(name, max(0.0, wait))
        if self._offset is not None and abs(step) < STEP:
            return 0.0
        self._offset = offset
        return step

    def due(self) -> dict[str, datetime]:
        """Return when each job runs next, by the system's clock."""
        return {job.id: job.next_run_time.astimezone(UTC) for job in self._scheduler.get_jobs()}

    def _run_in(self, name: str, seconds: float) -> None:
        """Let a job run once, after some seconds, instead of when it was to run before."""
        self._scheduler.add_job(
            self._jobs[name][1],
            "date",
            run_date=datetime.now(UTC) + timedelta(seconds=seconds),
            id=name,
            replace_existing=True,
            max_instances=2,
            misfire_grace_time=None,
        )

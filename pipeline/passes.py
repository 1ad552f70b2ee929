"""Runs the full scans that are wished for: one at a time, and each a batch at a time."""

from collections.abc import Callable, Generator

from catalog.record import Trigger
from pipeline.rounds import FullScan
from pipeline.settle import Unit

_FINISHED = object()


class Passes:
    """The full scan that runs, and the wishes for the next one."""

    def __init__(self, new_scan: Callable[[Trigger], FullScan]) -> None:
        """Take what makes a full scan."""
        self._new_scan = new_scan
        self._wished: list[Trigger] = []
        self._scan: FullScan | None = None
        self._steps: Generator[None, None, None] | None = None
        self.trigger: Trigger = "start"
        self.overtaken: set[Unit] = set()
        """What was looked at while the scan goes on, which may have read it before that."""

    @property
    def is_running(self) -> bool:
        """Whether a scan has begun and not ended."""
        return self._scan is not None

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to do."""
        return self.is_running or bool(self._wished)

    def wish(self, trigger: Trigger) -> None:
        """Ask for a scan that begins after this moment; one grants all the wishes there are."""
        self._wished.append(trigger)

    def step(self) -> tuple[FullScan, bool]:
        """Do one batch of the scan that runs, or begin the next; tell if that has ended it.

        A scan that fails is wished for again.
        """
        if self._scan is None or self._steps is None:
            self.trigger = self._wished[0]
            self._scan = self._new_scan(self.trigger)
            self._steps = self._scan.run()
            self._wished.clear()
        scan = self._scan
        try:
            has_ended = next(self._steps, _FINISHED) is _FINISHED
        except BaseException:
            self._scan = None
            self.wish("re-scan")
            raise
        if has_ended:
            self._scan = None
        return scan, has_ended

    def stop(self) -> None:
        """Leave the scan that runs as it is: the catalog is whole after each batch."""
        if self._steps:
            self._steps.close()
        self._scan = self._steps = None

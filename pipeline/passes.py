"""Runs the full scans that are wished for: one at a time, and each a batch at a time."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from catalog.record import Trigger
from catalog.requests import Request
from pipeline.rounds import FullScan
from pipeline.settle import Unit

_FINISHED = object()


@dataclass(frozen=True, slots=True)
class Mending:
    """What a command wants of a scan that believes nothing and mends what it finds."""

    request: Request
    accepts_removals: bool
    doubted: tuple[Unit, ...]  # folders of which nothing that is stored is believed


class Passes:
    """The full scan that runs, and the wishes for the next one."""

    def __init__(self, new_scan: Callable[[Trigger, Sequence[Mending]], FullScan]) -> None:
        """Take what makes a full scan."""
        self._new_scan = new_scan
        self._wished: list[Trigger] = []
        self._wished_mendings: list[Mending] = []
        self._scan: FullScan | None = None
        self._steps: Generator[None, None, None] | None = None
        self.trigger: Trigger = "start"
        self.mendings: list[Mending] = []
        """What the scan that runs is to mend, or the one that ran last has mended."""
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

    def wish(self, trigger: Trigger, mending: Mending | None = None) -> None:
        """Ask for a scan that begins after this moment; one grants all the wishes there are."""
        self._wished.append(trigger)
        self._wished_mendings += [mending] if mending else []

    def step(self) -> tuple[FullScan, bool]:
        """Do one batch of the scan that runs, or begin the next; tell if that has ended it.

        A scan that fails is wished for again, but for what it was to mend.
        """
        if self._scan is None or self._steps is None:
            self.trigger = self._wished[0]
            self.mendings, self._wished_mendings = self._wished_mendings, []
            self._scan = self._new_scan(self.trigger, self.mendings)
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
        self._wished_mendings.clear()

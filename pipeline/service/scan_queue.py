"""Queue of full scans: one runs at a time, a batch at a time."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from catalog.database.request_table import Request
from catalog.model.values import Trigger
from pipeline.roots.units import WatchUnit
from pipeline.sync.full_scan import FullScan

_FINISHED = object()


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What a command wants of a scan that believes nothing and mends what it finds."""

    request: Request
    accepts_removals: bool
    doubted: tuple[WatchUnit, ...]  # folders of which nothing that is stored is believed


class ScanRequest(NamedTuple):
    """What a full scan is wanted for."""

    trigger: Trigger
    repair: RepairRequest | None = None
    is_poll: bool = False  # one of so many that only what they find is worth a note


class ScanQueue:
    """The full scan that runs, and the requests for the next one."""

    def __init__(self, new_scan: Callable[[Sequence[ScanRequest]], FullScan]) -> None:
        """Take the factory of a full scan that grants some requests."""
        self._new_scan = new_scan
        self._requested: list[ScanRequest] = []
        self._scan: FullScan | None = None
        self._steps: Generator[None, None, None] | None = None
        self.granted: Sequence[ScanRequest] = ()
        """Requests that the running scan grants, or the last one granted."""
        self.superseded: set[WatchUnit] = set()
        """What was looked at while the scan goes on, which may have read it before that."""

    @property
    def is_running(self) -> bool:
        """Whether a scan has begun and not ended."""
        return self._scan is not None

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to do."""
        return self.is_running or bool(self._requested)

    @property
    def repairs(self) -> list[RepairRequest]:
        """What the scan that runs is to mend, or the one that ran last has mended."""
        return [request.repair for request in self.granted if request.repair]

    def request(
        self, trigger: Trigger, repair: RepairRequest | None = None, *, is_poll: bool = False
    ) -> None:
        """Ask for a scan that begins after this moment; one grants all requests that wait."""
        self._requested.append(ScanRequest(trigger, repair, is_poll))

    def step(self) -> tuple[FullScan, bool]:
        """Do one batch of the scan that runs, or begin the next; tell if that has ended it.

        A scan that fails is requested again, without its repairs.
        """
        if self._scan is None or self._steps is None:
            self.granted = tuple(self._requested)
            try:
                self._scan = self._new_scan(self.granted)
            except BaseException:
                self._requested = [ScanRequest("re-scan")]
                raise
            self._steps = self._scan.run()
            self._requested.clear()
        scan = self._scan
        try:
            has_ended = next(self._steps, _FINISHED) is _FINISHED
        except BaseException:
            self._scan = None
            self.request("re-scan")
            raise
        if has_ended:
            self._scan = None
        return scan, has_ended

    def stop(self) -> None:
        """Leave the scan that runs as it is: the catalog is whole after each batch."""
        if self._steps:
            self._steps.close()
        self._scan = self._steps = None
        self._requested = [request for request in self._requested if not request.repair]

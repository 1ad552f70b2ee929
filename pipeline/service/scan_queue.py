"""Queue of full scans; one scan runs at a time, one batch per step."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from catalog.database.requests import Request
from catalog.model.values import Trigger
from pipeline.roots.units import WatchUnit
from pipeline.service.scanning.full_scan import FullScan

_FINISHED = object()


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """Request of a command for a full scan: a deep one repairs differences as well."""

    request: Request
    accepts_removals: bool
    doubted: tuple[WatchUnit, ...]  # folders whose stored state is discarded
    is_deep: bool  # every file is read and hashed, even in unchanged folders


class ScanRequest(NamedTuple):
    """Request for a full scan."""

    trigger: Trigger
    repair: RepairRequest | None = None
    is_poll: bool = False  # polls are frequent: only their findings are recorded


class ScanQueue:
    """The running full scan, and the requests for the next one."""

    def __init__(self, new_scan: Callable[[Sequence[ScanRequest]], FullScan]) -> None:
        """Take a factory that creates a full scan for some requests."""
        self._new_scan = new_scan
        self._requested: list[ScanRequest] = []
        self._scan: FullScan | None = None
        self._steps: Generator[None, None, None] | None = None
        self.granted: Sequence[ScanRequest] = ()
        """Requests that the running or the last scan fulfils."""
        self.superseded: set[WatchUnit] = set()
        """Units scanned separately since the full scan began, which may have read older content."""

    @property
    def is_running(self) -> bool:
        """Whether a scan is running."""
        return self._scan is not None

    @property
    def is_wanted(self) -> bool:
        """Whether a scan is running or requested."""
        return self.is_running or bool(self._requested)

    @property
    def repairs(self) -> list[RepairRequest]:
        """Repairs that the running or the last scan fulfils."""
        return [request.repair for request in self.granted if request.repair]

    def request(
        self, trigger: Trigger, repair: RepairRequest | None = None, *, is_poll: bool = False
    ) -> None:
        """Request a scan that begins after this call; one scan fulfils all waiting requests."""
        self._requested.append(ScanRequest(trigger, repair, is_poll))

    def step(self) -> tuple[FullScan, bool]:
        """Run one batch of the running or the next scan; return the scan and whether it has ended.

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
        """Abandon the running scan: the catalog is consistent after each batch."""
        if self._steps:
            self._steps.close()
        self._scan = self._steps = None
        self._requested = [request for request in self._requested if not request.repair]

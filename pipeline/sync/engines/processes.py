"""Engines of a scan: this process alone, or an executor that shares the work."""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeAlias

from catalog.model.change import Judged
from pipeline.roots.local.descent import LooseFinding
from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.partition import is_worth_sharing, pieces, split
from pipeline.sync.engines.pool import Executor, Task, WorkerPool
from pipeline.sync.engines.scanner import (
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    scan,
)

Engine: TypeAlias = Callable[[ScanScope, ScanOptions], Iterator[ScanResult | None]]
"""Scans a scope and yields the results, or None while it waits for a process.

Raises RootUnreadable.
"""

PATHS_IN_A_PIECE = 16
"""Few enough that the cores end together, many enough that sending them costs little."""
PATHS_IN_A_COMPARISON = 256
"""Enough that two forks are not worth it for a few folders, few enough to stop soon."""
PIECES_AHEAD = 24
"""Enough that a process has work while this one stores a batch."""
NICENESS = 5
"""The process that stores the results comes first: the others wait for it."""
PATIENCE = 0.2
"""Seconds after which the caller may do something else."""
LEFT_TO_OTHERS = 48
"""Pieces that wait for the first result of others; this process begins those beyond them."""
RESULTS_IN_A_MESSAGE = 16
"""Enough that sending them costs little."""
UNCHANGED_IN_A_MESSAGE = 1024
"""More than results, for they are only paths."""


def serial(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan one folder after the other in this process."""
    return scan(scope, options)


def processes(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan with one process for each core, while this one stores the results.

    Where little is to be read, they are only worth it as forks, and this process does it alone
    where it may not fork. Results come in no particular order.
    """
    paths = split(scope, options)
    reads = is_worth_sharing(scope, options, paths)
    some = list(pieces(scope, paths, PATHS_IN_A_PIECE if reads else PATHS_IN_A_COMPARISON))
    size = len(os.sched_getaffinity(0))
    pool = WorkerPool(ahead=PIECES_AHEAD, niceness=NICENESS if reads else 0)
    with closing(pool):
        if reads or (min(size, len(some)) > 1 and engines_worker.may_fork()):
            pool.start(min(size, len(some)))
        yield from scan_with(pool, some, options)


def scan_with(
    executor: Executor, some: Sequence[ScanScope], options: ScanOptions
) -> Iterator[ScanResult | None]:
    """Scan pieces with an executor, in no particular order.

    This process does those that the executor returns, all where it has no processes, and some
    until the first of its results come.
    """
    todo = deque(_Scan(options, piece) for piece in some)
    running = 0
    is_answered = False
    collects = gc.isenabled()
    gc.disable()  # results hold no cycles, and there are many
    try:
        while todo or running:
            while todo and executor.has_room():
                executor.submit(todo.popleft())
                running += 1
            if todo and not running and not executor.has_workers():
                yield from todo.popleft().here(options)
                yield None
                continue
            is_begun_here = not is_answered and len(todo) > LEFT_TO_OTHERS
            tasks = executor.wait(0 if is_begun_here else PATIENCE)
            for task in tasks:
                assert isinstance(task, _Scan)
                is_answered = True
                yield from task.taken()
                if task.state == "returned":
                    yield from task.here(options)
                running -= task.state != "submitted"
            if not tasks and is_begun_here:
                yield from todo.pop().here(options)
            elif not tasks:
                yield None
    finally:
        if collects:
            gc.enable()


class _Scan(Task):
    """A piece of a scan, and which of its results were yielded."""

    def __init__(self, options: ScanOptions, piece: ScanScope) -> None:
        super().__init__(partial(_results, options), piece)
        self._yielded: set[object] = set()
        self._yielded_before: set[object] = set()  # by processes that died
        self._deaths = 0

    def __str__(self) -> str:
        return f"{self.piece.root.path}/{self.piece.paths[0]} and what follows"

    def taken(self) -> Iterator[ScanResult]:
        """Yield the results that have come."""
        while self.results:
            unchanged, others = self.results.popleft()
            yield from self._new([*map(Unchanged, unchanged), *others])

    def here(self, options: ScanOptions) -> Iterator[ScanResult]:
        """Scan the piece in this process."""
        results = scan(self.piece, options)
        if not self._yielded:
            return results
        return (result for result in results if _name(result) not in self._yielded)

    def _new(self, results: list[ScanResult]) -> list[ScanResult]:
        """Return the results that no earlier try had."""
        if self.deaths > self._deaths:
            self._deaths = self.deaths
            self._yielded_before |= self._yielded
        names = list(map(_name, results))
        self._yielded.update(names)
        if not self._yielded_before:
            return results
        return [
            result
            for result, name in zip(results, names, strict=True)
            if name not in self._yielded_before
        ]


def _name(result: ScanResult) -> object:
    """Return a key that differs between the results of one piece."""
    if isinstance(result, Judged):
        return result.verdict.place.path
    return result if isinstance(result, (LooseFinding, UnreadableDirectory)) else result.path


def _results(
    options: ScanOptions, piece: ScanScope
) -> Iterator[tuple[list[str], list[ScanResult]]]:
    """Yield a few results at a time, of the unchanged the paths, which are quicker to send."""
    unchanged: list[str] = []
    others: list[ScanResult] = []
    for result in scan(piece, options):
        if isinstance(result, Unchanged):
            unchanged.append(result.path)
        else:
            others.append(result)
        if len(others) == RESULTS_IN_A_MESSAGE or len(unchanged) == UNCHANGED_IN_A_MESSAGE:
            yield unchanged, others
            unchanged, others = [], []
    if unchanged or others:
        yield unchanged, others

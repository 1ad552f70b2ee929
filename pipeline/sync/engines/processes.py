"""Engines of a scan: this process alone, or an executor that shares the work."""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeAlias

from catalog.model.change import Judged
from pipeline.roots.local.tree_walk import LooseFinding
from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.partition import (
    COMPARED_APART,
    WORTH_IT,
    is_worth_sharing,
    only_compares,
    pieces,
    split,
)
from pipeline.sync.engines.pool import Executor, Task, WorkerPool
from pipeline.sync.engines.results import (
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
)
from pipeline.sync.engines.scanner import judge, scan

Engine: TypeAlias = Callable[[ScanScope, ScanOptions], Iterator[ScanResult | None]]
"""Scans a scope and yields the results, or None while it waits for a process.

Raises RootUnreadable.
"""

PATHS_IN_A_PIECE = 16
"""Few enough for all cores to finish together, many enough for sending them to cost little."""
WORTH_A_FORK = 256
"""Fewest folders to compare for which forks pay off, and the most in one piece."""
PIECES_AHEAD = 24
"""Enough to keep a process at work while this one stores a batch."""
NICENESS = 5
"""Lower priority than the process that stores the results, for which the others wait."""
PATIENCE = 0.2
"""Seconds of waiting after which the caller may do other work."""
LEFT_TO_OTHERS = 48
"""Pieces left to the workers; until their first result, this process scans pieces beyond these."""
RESULTS_IN_A_MESSAGE = 16
"""Enough for sending them to cost little."""


def serial(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan one folder after the other in this process."""
    return scan(scope, options)


def processes(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan with one process for each core, while this one stores the results.

    For a small scope, processes only pay off as forks; if this process may not fork, it scans
    alone. Results come in no particular order.
    """
    size = len(os.sched_getaffinity(0))
    may_share = engines_worker.may_fork() and size > 1
    compares = only_compares(scope, options)
    if compares and (len(scope.known) < WORTH_A_FORK or not may_share):
        yield from serial(scope, options)
        return
    paths = split(scope, options, COMPARED_APART if compares else WORTH_IT)
    reads = not compares and is_worth_sharing(scope, options, paths)
    if not reads and (len(paths) < COMPARED_APART or not may_share):
        yield from serial(scope, options)
        return
    together = PATHS_IN_A_PIECE if reads else min(len(paths) // COMPARED_APART, WORTH_A_FORK)
    scopes = list(pieces(scope, paths, together))
    pool = WorkerPool(ahead=PIECES_AHEAD, niceness=NICENESS if reads else 0)
    with closing(pool):
        if reads:
            judge()  # before the forks, which share what is imported
        pool.start(min(size, len(scopes)))
        yield from scan_with(pool, scopes, options)


def scan_with(
    executor: Executor, scopes: Sequence[ScanScope], options: ScanOptions
) -> Iterator[ScanResult | None]:
    """Scan pieces with an executor, in no particular order.

    This process scans the pieces that the executor returns, all pieces if the executor has no
    processes, and some pieces until the first results arrive.
    """
    collects = gc.isenabled()
    gc.disable()  # the many results hold no cycles
    try:
        yield from _share(executor, deque(_Scan(options, scope) for scope in scopes), options)
    finally:
        if collects:
            gc.enable()


def _share(
    executor: Executor, todo: "deque[_Scan]", options: ScanOptions
) -> Iterator[ScanResult | None]:
    running = 0
    has_results = False
    while todo or running:
        while todo and executor.has_room():
            executor.submit(todo.popleft())
            running += 1
        if todo and not running and not executor.has_workers():
            yield from todo.popleft().here(options)
            yield None
            continue
        scans_here = not has_results and len(todo) > LEFT_TO_OTHERS
        tasks = executor.wait(0 if scans_here else PATIENCE)
        for task in tasks:
            assert isinstance(task, _Scan)
            has_results = True
            yield from task.take_results()
            if task.state == "returned":
                yield from task.here(options)
            running -= task.state != "submitted"
        if not tasks and scans_here:
            yield from todo.pop().here(options)
        elif not tasks:
            yield None


class _Scan(Task):
    """Piece of a scan, with the keys of the results already yielded."""

    def __init__(self, options: ScanOptions, piece: ScanScope) -> None:
        super().__init__(partial(_results, options), piece)
        self._yielded: set[object] = set()

    def __str__(self) -> str:
        return f"{self.piece.root.path}/{self.piece.paths[0]} and the paths after it"

    def take_results(self) -> Iterator[ScanResult]:
        """Yield the results that have arrived."""
        while self.results:
            for result in self._new(self.results.popleft()):
                self._yielded.update(_keys(result))
                yield result

    def here(self, options: ScanOptions) -> Iterator[ScanResult]:
        """Scan the piece in this process."""
        results = scan(self.piece, options)
        if not self._yielded:
            return results
        return self._new(results)

    def _new(self, results: Iterable[ScanResult]) -> Iterator[ScanResult]:
        """Return the results that were not yielded before.

        If a process dies, another scans all pieces again whose results have not all arrived.
        """
        for result in results:
            if isinstance(result, Unchanged):
                if new := [path for path in result.paths if path not in self._yielded]:
                    yield replace(result, paths=new)
            elif self._yielded.isdisjoint(_keys(result)):
                yield result


def _keys(result: ScanResult) -> Sequence[object]:
    """Return keys that are unique among the results of one piece."""
    if isinstance(result, Unchanged):
        return result.paths
    if isinstance(result, Judged):
        return (result.verdict.place.path,)
    return (result if isinstance(result, (LooseFinding, UnreadableDirectory)) else result.path,)


def _results(options: ScanOptions, piece: ScanScope) -> Iterator[Sequence[ScanResult]]:
    """Yield results in batches, which cost less to send."""
    results = scan(piece, options)
    while batch := list(islice(results, RESULTS_IN_A_MESSAGE)):
        yield batch

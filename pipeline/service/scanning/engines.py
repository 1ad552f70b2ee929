"""Engines of a scan: this process alone, or an executor that shares the work."""

import sys
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from typing import TypeAlias

from pipeline.processes import cores, process_pool
from pipeline.roots.source import open_source
from pipeline.service.scanning.scanner import (
    ScanOptions,
    ScanResult,
    ScanScope,
    import_rules,
    scan,
)

Engine: TypeAlias = Callable[[ScanScope, ScanOptions], Iterator[ScanResult | None]]
"""Scans a scope and yields the results, or None while it waits for a process.

Raises RootUnreadable.
"""
Results: TypeAlias = list[ScanResult]

WORTH_IT = 512
"""Fewest paths to read for which worker processes pay off; without fork, starting them takes a
third of a second."""
PATHS_IN_A_PIECE = 16
"""Few enough for all cores to finish together, many enough for sending them to cost little."""
PIECES_AHEAD = 4
"""Pieces in flight for each worker, so that none waits for this process while it stores others."""
NICENESS = 5
"""Lower priority than the process that stores the results, for which the others wait."""
PATIENCE = 0.2
"""Seconds of waiting after which the caller may do other work."""


def serial(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan one folder after the other in this process."""
    return scan(scope, options)


def processes(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan with one process for each core, while this one stores the results.

    A scope with little to read is scanned by this process alone. Results come in no particular
    order.
    """
    if cores() < 2 or not (paths := paths_to_share(scope, options)):
        yield from scan(scope, options)
        return
    import_rules()  # before the forks, which share what is imported
    with process_pool(min(cores(), len(paths) // PATHS_IN_A_PIECE), NICENESS) as pool:
        yield from share(pool, scope, paths, options, room=lambda _: PIECES_AHEAD * cores())


def paths_to_share(scope: ScanScope, options: ScanOptions) -> list[str]:
    """Return the paths of the skills in a scope; none if there is too little to read to share it.

    Where folders are known, few of them have changed.
    """
    if any(scope.known.values()) and not options.deep:
        return []
    with open_source(scope.root.path, options.limits) as source:
        paths = source.split(scope.paths, sys.maxsize)
    return paths if len(paths) >= WORTH_IT else []


def scan_piece(piece: ScanScope, options: ScanOptions) -> Results:
    """Return the results of a piece."""
    return list(scan(piece, options))


def _results(future: Future[Results]) -> Results | None:
    """Return the results of a piece; None if the worker was killed or failed."""
    try:
        return future.result()
    except Exception:  # noqa: BLE001  # this process scans the piece, and raises it
        return None


def share(
    executor: Executor,
    scope: ScanScope,
    paths: Sequence[str],
    options: ScanOptions,
    *,
    room: Callable[[float], int],
    work: Callable[[ScanScope, ScanOptions], Results] = scan_piece,
    results: Callable[[Future[Results]], Results | None] = _results,
) -> Iterator[ScanResult | None]:
    """Scan the paths of a scope with an executor, in no particular order.

    `room` returns how many pieces may be in flight, 0 if the executor has no workers any more; its
    argument is the number of seconds since the last answer. This process scans what the executor
    lost, and everything that is left if it has no workers.
    """
    todo = deque(pieces(scope, paths))
    running: dict[Future[Results], ScanScope] = {}
    heard = time.monotonic()
    while todo or running:
        most = room(time.monotonic() - heard)
        try:
            while todo and len(running) < most:
                running[executor.submit(work, todo[0], options)] = todo[0]
                todo.popleft()
        except BrokenExecutor:
            most = 0
        if not most:
            break
        ended, _ = wait(running, PATIENCE, FIRST_COMPLETED)
        if not ended:
            yield None
        for future in ended:
            heard = time.monotonic()
            piece = running.pop(future)
            found = results(future)
            yield from scan(piece, options) if found is None else found
    for piece in (*todo, *running.values()):
        yield from scan(piece, options)


def pieces(scope: ScanScope, paths: Sequence[str]) -> Iterator[ScanScope]:
    """Yield a scope in pieces of some paths, each with its known folders at or below them."""
    known = sorted(scope.known)
    for start in range(0, len(paths), PATHS_IN_A_PIECE):
        piece = tuple(paths[start : start + PATHS_IN_A_PIECE])
        names = [name for path in piece for name in _at_or_below(known, path)]
        yield replace(
            scope,
            paths=piece,
            known={name: scope.known[name] for name in names},
            stats={name: scope.stats[name] for name in names if name in scope.stats},
        )


def _at_or_below(names: Sequence[str], path: str) -> Iterator[str]:
    """Yield the names, of a sorted sequence, that equal a path or lie below it."""
    if not path:
        yield from names
        return
    index = bisect_left(names, path)
    if index < len(names) and names[index] == path:
        yield path
    # "0" is the code point after "/".
    yield from names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]

"""Engines of a scan: this process alone, or an executor that shares the work."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from catalog.model.errors import ClusterUnusable, RootUnreadable
from catalog.model.skill import RootSpec
from pipeline.processes import cores, process_pool
from pipeline.service.scanning.scanner import (
    ScanOptions,
    ScanResult,
    ScanScope,
    Unread,
    import_rules,
    judge_unread,
    scan,
)

Engine: TypeAlias = Callable[[ScanScope, ScanOptions], Iterator[ScanResult | None]]
"""Scans a scope and yields the results, or None while it waits for a process.

Raises RootUnreadable.
"""
Results: TypeAlias = list[ScanResult]
Piece: TypeAlias = list[Unread]

WORTH_IT = 512
"""Fewest folders to judge for which worker processes pay off; without fork, starting them takes a
third of a second."""
FOLDERS_IN_A_PIECE = 16
"""Few enough for all cores to finish together, many enough for sending them to cost little."""
PIECES_AHEAD = 24
"""Pieces in flight besides one for each worker: more than a batch of changes, so that no worker
waits for this process while it stores and publishes one."""
NICENESS = 5
"""Lower priority than the process that stores the results, for which the others wait."""
PATIENCE = 0.2
"""Seconds of waiting after which the caller may do other work."""


def serial(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan one folder after the other in this process."""
    for result in scan(scope, options):
        assert not isinstance(result, Unread)
        yield result


def processes(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan with one process for each core, while this one finds skills and stores the results.

    A scope with few folders to judge is scanned by this process alone. Results come in no
    particular order.
    """
    if cores() < 2:
        return serial(scope, options)

    def in_pool(found: Iterator[ScanResult | Unread]) -> Iterator[ScanResult | None]:
        import_rules()  # before the forks, which share what is imported
        with process_pool(cores(), NICENESS) as pool:
            room = PIECES_AHEAD + cores()
            yield from share(pool, scope, found, options, room=lambda _: room)

    return if_worth_it(scope, options, in_pool)


def if_worth_it(
    scope: ScanScope,
    options: ScanOptions,
    shared: Callable[[Iterator[ScanResult | Unread]], Iterator[ScanResult | None]],
) -> Iterator[ScanResult | None]:
    """Walk a scope, and scan the rest with `shared` as soon as there is enough to judge."""
    found = scan(scope, replace(options, judges=False))
    unread: list[Unread] = []
    for result in found:
        if not isinstance(result, Unread):
            yield result
            continue
        unread.append(result)
        if len(unread) == WORTH_IT:
            with process_pool(cores()):  # in which the caller publishes meanwhile
                yield from shared(chain(unread, found))
            return
    yield from judge_unread(scope.root, unread, options)


def judge_piece(root: RootSpec, piece: Piece, options: ScanOptions) -> Results:
    """Return the results for some folders and archives, in a worker."""
    return list(judge_unread(root, piece, options))


def share(
    executor: Executor,
    scope: ScanScope,
    found: Iterator[ScanResult | Unread],
    options: ScanOptions,
    *,
    room: Callable[[float], int],
    work: Callable[[RootSpec, Piece, ScanOptions], Results] = judge_piece,
    note_lost: Callable[[Exception], object] = lambda _: None,
) -> Iterator[ScanResult | None]:
    """Yield the results of a walk over a scope, and those of an executor for unread folders.

    `room` returns how many pieces may be in flight, 0 if the executor has no workers any more; its
    argument is the number of seconds since the last answer. This process scans what the executor
    lost, and everything that is left if it has no workers; `note_lost` gets each error. Raises
    ClusterUnusable and RootUnreadable.
    """
    root = scope.root
    todo = _pieces(found)
    running: dict[Future[Results], Piece] = {}
    refused: list[Piece] = []
    answers: list[Iterable[ScanResult]] = []
    heard = time.monotonic()
    while True:
        most = room(time.monotonic() - heard)
        try:
            while len(running) < most and (piece := next(todo, None)):
                if isinstance(piece, list):
                    refused.append(piece)
                    running[executor.submit(work, root, piece, options)] = piece
                    refused.clear()
                else:
                    yield piece
        except BrokenExecutor:
            most = 0
        yield from chain.from_iterable(answers)  # the caller may store them, while others work
        answers.clear()
        if not most or not running:
            break
        ended, _ = wait(running, PATIENCE, FIRST_COMPLETED)
        if not ended:
            yield None
        for future in ended:
            heard = time.monotonic()
            piece = running.pop(future)
            try:
                answers.append(future.result())
            except (ClusterUnusable, RootUnreadable):
                raise
            except Exception as error:  # noqa: BLE001  # the worker was killed, or failed
                note_lost(error)
                answers.append(judge_unread(root, piece, options))
    for piece in chain(running.values(), refused, todo):
        yield from judge_unread(root, piece, options) if isinstance(piece, list) else (piece,)


def _pieces(found: Iterator[ScanResult | Unread]) -> Iterator[ScanResult | Piece]:
    """Yield the results of a walk, and its unread folders and archives in pieces."""
    piece: Piece = []
    for result in chain(found, (None,)):
        if isinstance(result, Unread):
            piece.append(result)
        elif result:
            yield result
        if len(piece) == FOLDERS_IN_A_PIECE or (piece and result is None):
            yield piece
            piece = []

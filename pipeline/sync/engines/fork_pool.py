"""Ordered map over forked processes, one for each core."""

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias, TypeVar

from pipeline.sync.engines.worker import may_fork

Piece = TypeVar("Piece")
Result = TypeVar("Result")
_Done: TypeAlias = dict[int, bytes]


def in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], cores: int | None = None
) -> Iterator[Result]:
    """Yield the result of each piece, which must be picklable, in the order of the pieces.

    What a process leaves undone, because it died or its work raised, this one does itself: an
    exception is thus raised here, when the turn of its piece comes. On one core, and where nothing
    may be forked, all is done here.
    """
    cores = min(cores or len(os.sched_getaffinity(0)), len(pieces))
    if cores < 2 or not may_fork():
        yield from map(work, pieces)
        return
    gc.freeze()  # so that the collectors of the forks leave alone what is shared with them
    readers: dict[Connection, BaseProcess] = {}
    try:
        for first in range(cores):
            reader, process = _forked(work, pieces, range(first, len(pieces), cores), readers)
            readers[reader] = process
        done: _Done = {}
        for number, piece in enumerate(pieces):
            while number not in done and readers:
                _receive(readers, done)
            yield pickle.loads(done.pop(number)) if number in done else work(piece)
    finally:
        gc.unfreeze()
        for reader, process in readers.items():
            process.kill()  # what it may be doing is wanted no more
            _ended(reader, process)


def _forked(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    numbers: range,
    others: dict[Connection, BaseProcess],
) -> tuple[Connection, BaseProcess]:
    """Start a process that does the pieces of these numbers and sends each with its result."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def serve() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a word
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        gc.disable()  # what is made here is pickled and dropped, and holds no cycles
        for inherited in (reader, *others):
            inherited.close()  # else nobody would learn that the one who reads has ended
        with suppress(Exception):
            for number in numbers:
                result = pickle.dumps(work(pieces[number]), pickle.HIGHEST_PROTOCOL)
                writer.send_bytes(number.to_bytes(8) + result)

    process = context.Process(target=serve, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    writer.close()
    return reader, process


def _receive(readers: dict[Connection, BaseProcess], done: _Done) -> None:
    """Wait until there are results and take them, or note that a process has ended."""
    for reader in wait(list(readers)):
        assert isinstance(reader, Connection)
        try:
            message = reader.recv_bytes()
        except (EOFError, OSError):
            _ended(reader, readers.pop(reader))
        else:
            done[int.from_bytes(message[:8])] = message[8:]


def _ended(reader: Connection, process: BaseProcess) -> None:
    reader.close()
    process.join()

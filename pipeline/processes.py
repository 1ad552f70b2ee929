"""Processes that share work on this machine and end with their parent."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import zip_longest
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Piece = TypeVar("Piece")
Result = TypeVar("Result")

_PRELOADED = [
    "pipeline.dialects.registry",
    "pipeline.parsing.document",
    "pipeline.validation.verdict",
    "pipeline.service.scanning.scanner",
    "pipeline.roots.archives.reader",
    "pipeline.service.open_catalog",
    "catalog.writing.packages.builder",
]
"""Modules that the fork server imports once; in each process, this would take 0.25 seconds."""


@contextmanager
def at_work(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], processes: int | None = None
) -> Iterator[Iterator[Result]]:
    """Give the results of the pieces in order, from one process for each core.

    The work starts at once and ends with the context. An exception of the work is raised in place
    of the result of its piece. This process does the work alone if there is one piece or one core,
    and the rest of it if another process is killed.
    """
    size = min(processes or cores(), len(pieces))
    if size < 2:
        yield map(work, pieces)
        return
    with process_pool(size) as pool:
        futures: list[Future[Result]] = []
        with suppress(BrokenProcessPool):
            futures += (pool.submit(work, piece) for piece in pieces)
        yield _in_order(work, pieces, futures)


def in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], processes: int | None = None
) -> Iterator[Result]:
    """Yield the results of `at_work`; the work ends with the iteration."""
    with at_work(work, pieces, processes) as results:
        yield from results


def _in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], futures: Sequence[Future[Result]]
) -> Iterator[Result]:
    for piece, future in zip_longest(pieces, futures):
        try:
            result = future.result() if future else work(piece)
        except BrokenProcessPool:
            result = work(piece)
        yield result


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def process_pool(size: int, niceness: int = 0) -> Iterator[ProcessPoolExecutor]:
    """Give an executor of `size` processes, which are killed at the end of the context.

    They are forks if Python runs only one thread: a fork copies the locks of other threads. All
    modules are imported then, so it is a hundred times faster.
    """
    context = get_context("fork" if threading.active_count() == 1 else "forkserver")
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload(_PRELOADED)
    others = set(active_children())
    pool = _Pool(size, context, _begin, (niceness,))
    try:
        yield pool
    finally:
        for process in set(active_children()) - others:
            process.kill()
        with suppress(RuntimeError):  # its thread could not start
            pool.shutdown()


class _Pool(ProcessPoolExecutor):
    """Executor that breaks if the system allows no more processes or threads."""

    def submit(self, fn: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Future[Any]:
        """Submit a call; Ctrl-C is meant for this process, so those started now inherit a block."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        except (OSError, EOFError, RuntimeError) as error:
            raise BrokenProcessPool(str(error)) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(niceness: int) -> None:
    """Prepare a worker process, which ends as soon as its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # a fork inherits the handlers of its parent
    os.nice(niceness)
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError:  # the system allows no more threads
        os._exit(1)


def _end_with_parent() -> None:
    """End this process if its parent is killed: a new one may already be starting.

    A fork keeps the pipes of earlier forks open, so these see the end of file only once it ended.
    """
    parent = parent_process()
    assert parent
    wait([parent.sentinel])
    os._exit(1)

"""Processes that share work on this machine and end with their parent."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, contextmanager, suppress
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from traceback import format_exc
from typing import Any, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
Piece = TypeVar("Piece")
Result = TypeVar("Result")
_Request: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

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


_open: list[Executor] = []
"""The pools of this process; the first one is for `at_work`."""


@contextmanager
def at_work(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    processes: int | None = None,
    *,
    fewest: int = 2,
) -> Iterator[Iterator[Result]]:
    """Give the results of the pieces in order, from one process for each core.

    The work starts at once and ends with the context. An exception of the work is raised in place
    of the result of its piece. This process does the work alone if there is one piece or one core,
    and the rest of it if another process is killed. If a pool is open, its processes do the work;
    else `fewest` is the number of pieces for which processes are started.
    """
    size = min(processes or cores(), len(pieces))
    if size < 2 or not (_open or len(pieces) >= fewest):
        yield map(work, pieces)
        return
    futures: list[Future[Result]] = []
    with ExitStack() as own:
        pool = _open[0] if _open else own.enter_context(process_pool(size))
        with suppress(BrokenExecutor):
            futures += (pool.submit(work, piece) for piece in pieces)
        try:
            yield _in_order(work, pieces, futures)
        finally:
            own.close()  # a pool that was open before lives on, but this work ends in it
            wait_for([future for future in futures if not future.cancel()])


def _in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], futures: Sequence[Future[Result]]
) -> Iterator[Result]:
    for piece, future in zip_longest(pieces, futures):
        try:
            result = future.result() if future else work(piece)
        except BrokenExecutor:
            result = work(piece)
        yield result


def cores() -> int:
    """Return the number of cores that this process may use; one where it is not Linux."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@contextmanager
def process_pool(size: int, niceness: int = 0) -> Iterator[Executor]:
    """Give an executor of `size` processes, which are killed at the end of the context.

    They are forks if Python runs only one thread: a fork copies the locks of other threads. All
    modules are imported then, so it is a hundred times faster.
    """
    if threading.active_count() == 1:
        context: Any = get_context("fork")
    else:
        context = get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
    with _Pool(size, context, niceness) as pool:
        yield pool


class _Pool(Executor):
    """Executor whose processes have a pipe each, which ends if its process is killed.

    Those of the standard library share one for all results: if one is killed while it writes there,
    the rest of its result is waited for without end.
    """

    def __init__(self, size: int, context: Any, niceness: int) -> None:
        self._processes: list[BaseProcess] = []
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self._threads = ThreadPoolExecutor(size)
        # Ctrl-C is meant for this process; those started now inherit the block.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with suppress(OSError, EOFError):  # the system allows no more processes
                for _ in range(size):
                    ours, theirs = context.Pipe()
                    with theirs:
                        process = context.Process(target=_serve, args=(theirs, niceness))
                        process.start()
                    self._processes.append(process)
                    self._idle.put(ours)
            self._is_broken = not self._processes
            _open.append(self)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def submit(self, fn: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Future[Any]:
        """Submit a call. Raises BrokenExecutor once a process was killed, or if none started."""
        if self._is_broken:
            raise BrokenExecutor
        try:
            return self._threads.submit(self._ask, (fn, args, kwargs))
        except RuntimeError as error:  # the system allows no more threads
            raise BrokenExecutor from error

    def _ask(self, request: _Request) -> Any:
        """Return the result of a process that has nothing to do."""
        pipe = self._idle.get()
        try:
            pipe.send(request)
            result, error = pipe.recv()
        except (EOFError, OSError) as failure:
            self._kill()
            raise BrokenExecutor from failure
        finally:
            self._idle.put(pipe)
        if error:
            raise error
        return result

    def _kill(self) -> None:
        self._is_broken = True
        for process in self._processes:
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End all processes at once, and with them what they do."""
        _open.remove(self)
        self._kill()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._processes:
            process.join()


def _serve(pipe: Connection, niceness: int) -> None:
    """Answer each request with its result or its exception."""
    _begin(niceness)
    with suppress(EOFError, OSError):  # the process that asked was killed
        while True:
            work, args, kwargs = pipe.recv()
            result = error = None
            try:
                result = work(*args, **kwargs)
            except Exception as raised:  # noqa: BLE001  # for the process that asked
                raised.add_note(format_exc())
                error = raised
            pipe.send((result, error))


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

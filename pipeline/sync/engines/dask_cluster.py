"""Dask engine: scans on a Dask cluster whose workers mount the same storage."""

import logging
import os
import socket
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias

from dask import config
from distributed import Client, Future, LocalCluster
from distributed.comm.addressing import get_address_host_port
from distributed.scheduler import KilledWorker

from catalog.model.errors import ClusterUnusable, RootUnreadable
from catalog.model.version import VERSION
from pipeline.sync.engines import partition, processes
from pipeline.sync.engines.pool import Task
from pipeline.sync.engines.processes import Engine, scan_with
from pipeline.sync.engines.results import ScanOptions, ScanResult, ScanScope

log = logging.getLogger("skilldrop")

PATHS_IN_A_PIECE = 64
"""Enough to make the few milliseconds of sending a task negligible."""
PATHS_AT_ONCE = 16
"""Paths after which a worker counts its results."""
RESULTS_IN_AN_ANSWER = 512
"""Results after which a worker answers: a few megabytes, and a second of work or less."""
PIECES_AHEAD = 4
"""Pieces queued for each thread of the cluster, so that none waits for this process."""
CONNECT_WITHIN = 10
"""Seconds within which the scheduler must answer and have a worker."""
SILENT_FOR = 30
"""Seconds without an answer after which workers count as lost; an answer takes about one."""

_Answer: TypeAlias = tuple[list[Any], list[str]] | RootUnreadable | str
"""Results of a piece with the paths that are left, or a reason why there are none."""
_Future: TypeAlias = "Future[_Answer]"


@contextmanager
def dask(
    scheduler: str | None = None, notice: Callable[[str], None] = log.info
) -> Iterator[Engine]:
    """Give an engine that scans on the cluster at an address, or on a new local cluster.

    notice gets a sentence with the URL of the dashboard, for people.

    Results come in no particular order. If a worker dies, another takes its pieces; this process
    scans pieces that no worker finishes, so nothing is lost. Raises ClusterUnusable if no scheduler
    answers, or if a worker has another root at the path or another version of skilldrop.
    """
    _silence_libraries()
    if scheduler:
        with _connected(scheduler, notice) as client:
            if link := client.dashboard_link:
                notice(f"The Dask dashboard is at {link} (the scheduler needs Bokeh for it)")
            yield partial(_scan, client)
        return
    with (
        tempfile.TemporaryDirectory(prefix="skilldrop-dask-") as temporary,
        config.set({"temporary-directory": temporary}),
        LocalCluster(
            n_workers=len(os.sched_getaffinity(0)),
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield partial(_scan, client)


def _silence_libraries() -> None:
    """Hide the tracebacks that Dask logs for errors that skilldrop reports in one sentence.

    Several of its loggers have a level of their own, which the level of their parent leaves alone.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def _connected(scheduler: str, notice: Callable[[str], None]) -> Iterator[Client]:
    try:
        # Closing a client that never connected logs errors.
        socket.create_connection(get_address_host_port(scheduler), CONNECT_WITHIN).close()
        client = Client(scheduler, timeout=CONNECT_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnusable(
            f"No Dask scheduler answers at {scheduler}. Start one with `dask scheduler`, or leave "
            "--scheduler out to use this machine alone."
        ) from error
    with client:
        if not client.nthreads():
            notice(f"The cluster at {scheduler} has no worker yet; waiting {CONNECT_WITHIN} s …")
        try:
            client.wait_for_workers(1, timeout=CONNECT_WITHIN)
        except TimeoutError as error:
            raise ClusterUnusable(
                f"The cluster at {scheduler} has no worker. Start one with "
                f"`dask worker {scheduler}`."
            ) from error
        yield client


def _scan(client: Client, scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    paths = partition.split(scope, options)
    if not partition.is_worth_sharing(scope, options, paths):
        yield from processes.processes(scope, options)
        return
    pieces = list(partition.pieces(scope, paths, PATHS_IN_A_PIECE))
    yield from scan_with(_Cluster(client, scope.root.path, options), pieces, options)


class _Cluster:
    """Executor with the workers of a cluster, which reruns the tasks of workers that die.

    A worker returns a bounded number of results, and the paths that it has not scanned. These wait
    here until the cluster has room, so that no results pile up in the workers.
    """

    def __init__(self, client: Client, root: str, options: ScanOptions) -> None:
        self._client = client
        self._call = partial(_checked, root, _inode(root), VERSION, options)
        self._tasks: dict[_Future, Task] = {}
        self._waiting: deque[tuple[Task, ScanScope]] = deque()
        self._parts: Counter[Task] = Counter()  # unfinished ones of each submitted task
        self._finished: SimpleQueue[_Future] = SimpleQueue()
        self._silent_since = time.monotonic()
        self._is_silent = False
        self._room = 0
        self._count_threads()

    def has_workers(self) -> bool:
        """Return whether the cluster runs and has workers."""
        return bool(self._room)

    def has_room(self) -> bool:
        """Return whether the cluster needs another task to stay at work."""
        return len(self._tasks) + len(self._waiting) < self._room

    def submit(self, task: Task) -> None:
        """Submit a task to the cluster."""
        task.state = "submitted"
        self._add(task, [task.piece])

    def wait(self, timeout: float) -> Sequence[Task]:
        """Wait until a task has results or is returned; if the cluster is gone, return all."""
        self._count_threads()
        if not self._room:
            log.warning("The Dask cluster is gone; this process scans the rest alone.")
            return self._return_all()
        try:
            future = self._finished.get(timeout=timeout)
        except Empty:
            if time.monotonic() - self._silent_since < SILENT_FOR:
                return []
            log.warning(
                "The Dask cluster has not answered for %s s; this process scans the rest alone.",
                SILENT_FOR,
            )
            self._is_silent = True
            self._count_threads()
            return self._return_all()
        self._silent_since = time.monotonic()
        if future not in self._tasks:  # another part of its task was lost
            return []
        task = self._tasks.pop(future)
        self._take(task, future)
        self._send()
        return [task]

    def _return_all(self) -> Sequence[Task]:
        tasks = list(self._parts)
        for task in tasks:
            self._forget(task, "returned")
        return tasks

    def _add(self, task: Task, pieces: Sequence[ScanScope]) -> None:
        self._parts[task] += len(pieces)
        self._waiting.extend((task, piece) for piece in pieces)
        self._send()

    def _send(self) -> None:
        while self._waiting and len(self._tasks) < self._room:
            if not self._tasks:
                self._silent_since = time.monotonic()
            task, piece = self._waiting.popleft()
            future = self._client.submit(self._call, task.work, piece, pure=False)
            self._tasks[future] = task
            future.add_done_callback(self._finished.put)

    def _take(self, task: Task, future: _Future) -> None:
        """Take the answer about a part of a task. Raises ClusterUnusable and RootUnreadable."""
        answer = _result(future)
        if answer is None:
            self._forget(task, "returned")
            return
        results, rest = answer
        task.results.extend(results)
        self._add(task, list(partition.pieces(task.piece, rest, PATHS_IN_A_PIECE)))
        self._parts[task] -= 1
        if not self._parts[task]:
            self._forget(task, "done")

    def _forget(self, task: Task, state: Literal["done", "returned"]) -> None:
        task.state = state
        del self._parts[task]
        self._tasks = {future: other for future, other in self._tasks.items() if other is not task}
        self._waiting = deque(part for part in self._waiting if part[0] is not task)

    def _count_threads(self) -> None:
        self._room = 0
        if self._client.status != "running" or self._is_silent:
            return
        with suppress(OSError):  # the scheduler died a moment ago, or does not answer
            threads = self._client.nthreads(callback_timeout=CONNECT_WITHIN)
            self._room = PIECES_AHEAD * sum(threads.values())


def _result(future: _Future) -> tuple[list[Any], list[str]] | None:
    """Return the results of a piece and the paths left; None if the cluster lost it.

    Raises ClusterUnusable and RootUnreadable.
    """
    try:
        answer: _Answer = future.result(timeout=CONNECT_WITHIN)
    except (KilledWorker, CancelledError, OSError) as error:
        # Several workers died over the task, the scheduler died, or the worker with its results.
        log.warning(
            "The Dask cluster lost a piece (%s); this process scans it.", type(error).__name__
        )
        return None
    except Exception as error:  # a foreign environment may raise any exception
        raise ClusterUnusable(
            f"A worker of the cluster cannot scan: {error}. Install the same version of skilldrop "
            "on all workers."
        ) from error
    if isinstance(answer, str):
        raise ClusterUnusable(f"A worker of the cluster {answer}.")
    if isinstance(answer, RootUnreadable):
        raise answer
    return answer


# In a worker of the cluster


def _checked(
    root: str,
    inode: int,
    expected_version: str,
    options: ScanOptions,
    work: Callable[[ScanScope], Iterator[Any]],
    piece: ScanScope,
) -> _Answer:
    """Return an answer to a piece, or the rest of a sentence that explains the refusal."""
    if expected_version != VERSION:
        return f"has skilldrop {VERSION}, not {expected_version}. Install the same everywhere"
    try:
        if _inode(root) != inode:
            return f"has another directory at {root}. Mount the same storage there"
        return _bounded(work, piece, options)
    except OSError as error:
        return f"cannot read {root}: {error.strerror}. Mount the same storage there"
    except RootUnreadable as error:
        return error


def _bounded(
    work: Callable[[ScanScope], Iterator[Any]], piece: ScanScope, options: ScanOptions
) -> tuple[list[Any], list[str]]:
    """Return the results of the first paths of a piece, and the paths left.

    A path may be a folder of a hundred thousand skills, so it is split first.
    """
    paths = partition.split(piece, options)
    results: list[Any] = []
    scanned = count = 0
    for few in partition.pieces(piece, paths, PATHS_AT_ONCE):
        for batch in work(few):
            results.append(batch)
            count += len(batch)
        scanned += len(few.paths)
        if count >= RESULTS_IN_AN_ANSWER:
            break
    return results, paths[scanned:]


def _inode(root: str) -> int:
    """Return the inode of a directory, equal on all machines that mount its file system."""
    return os.stat(root).st_ino

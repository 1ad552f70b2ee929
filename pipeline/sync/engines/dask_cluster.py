"""Dask engine: scans on a Dask cluster whose workers mount the same storage."""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from distributed import Client, Future, LocalCluster
from distributed.comm.addressing import get_address_host_port
from distributed.scheduler import KilledWorker

from catalog.model.errors import ClusterUnusable, RootUnreadable
from pipeline.sync.engines import partition, processes
from pipeline.sync.engines.pool import Task
from pipeline.sync.engines.processes import Engine, scan_with
from pipeline.sync.engines.scanner import ScanOptions, ScanResult, ScanScope

log = logging.getLogger("skilldrop")

PATHS_IN_A_PIECE = 64
"""Enough to make the few milliseconds of sending a task negligible."""
PIECES_AHEAD = 4
"""Pieces queued for each thread of the cluster, so that none waits for this process."""
CONNECT_WITHIN = 10
"""Seconds within which the scheduler must answer and have a worker."""

_Answer: TypeAlias = list[Any] | RootUnreadable | str
_Future: TypeAlias = "Future[_Answer]"


@contextmanager
def dask(scheduler: str | None = None) -> Iterator[Engine]:
    """Give an engine that scans on the cluster at an address, or on a new local cluster.

    Results come in no particular order. If a worker dies, another takes its pieces; this process
    scans pieces that no worker finishes, so nothing is lost. Raises ClusterUnusable if no scheduler
    answers, or if a worker has another root at the path or another version of skilldrop.
    """
    # Dask logs tracebacks for errors that skilldrop reports in one sentence.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if scheduler:
        with _connected(scheduler) as client:
            yield partial(_scan, client)
        return
    with (
        LocalCluster(
            n_workers=len(os.sched_getaffinity(0)),
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield partial(_scan, client)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
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
    yield from scan_with(_Cluster(client, scope.root.path), pieces, options)


class _Cluster:
    """Executor with the workers of a cluster, which reruns the tasks of workers that die."""

    def __init__(self, client: Client, root: str) -> None:
        self._client = client
        self._call = partial(_checked, root, _inode(root), version("skilldrop"))
        self._tasks: dict[_Future, Task] = {}
        self._finished: SimpleQueue[_Future] = SimpleQueue()
        self._room = 0
        self._count_threads()

    def has_workers(self) -> bool:
        """Return whether the cluster runs and has workers."""
        return bool(self._room)

    def has_room(self) -> bool:
        """Return whether the cluster needs another task to stay at work."""
        return len(self._tasks) < self._room

    def submit(self, task: Task) -> None:
        """Submit a task to the cluster."""
        task.state = "submitted"
        future = self._client.submit(self._call, task.work, task.piece, pure=False)
        self._tasks[future] = task
        future.add_done_callback(self._finished.put)

    def wait(self, timeout: float) -> Sequence[Task]:
        """Wait until a task is done or returned; if the cluster is gone, return all tasks."""
        self._count_threads()
        if not self._room:
            log.warning("The Dask cluster is gone; this process scans the rest alone.")
            tasks = list(self._tasks.values())
            self._tasks.clear()
            for task in tasks:
                task.state = "returned"
            return tasks
        try:
            future = self._finished.get(timeout=timeout)
        except Empty:
            return []
        task = self._tasks.pop(future)
        _finish(task, future)
        return [task]

    def _count_threads(self) -> None:
        is_running = self._client.status == "running"
        self._room = PIECES_AHEAD * sum(self._client.nthreads().values()) if is_running else 0


def _finish(task: Task, future: _Future) -> None:
    """Add the results to a task and set its state. Raises ClusterUnusable and RootUnreadable."""
    try:
        answer: _Answer = future.result(timeout=CONNECT_WITHIN)
    except (KilledWorker, CancelledError, OSError) as error:
        # Several workers died over the task, the scheduler died, or the worker with its results.
        log.warning(
            "The Dask cluster lost a piece (%s); this process scans it.", type(error).__name__
        )
        task.state = "returned"
        return
    except Exception as error:  # a foreign environment may raise any exception
        raise ClusterUnusable(
            f"A worker of the cluster cannot scan: {error}. Install the same version of skilldrop "
            "on all workers."
        ) from error
    if isinstance(answer, str):
        raise ClusterUnusable(f"A worker of the cluster {answer}.")
    if isinstance(answer, RootUnreadable):
        raise answer
    task.results.extend(answer)
    task.state = "done"


# In a worker of the cluster


def _checked(
    root: str,
    inode: int,
    expected_version: str,
    work: Callable[[ScanScope], Iterator[Any]],
    piece: ScanScope,
) -> _Answer:
    """Return the results of a piece, or the rest of a sentence that explains the refusal."""
    if (installed := version("skilldrop")) != expected_version:
        return f"has skilldrop {installed}, not {expected_version}. Install the same everywhere"
    try:
        if _inode(root) != inode:
            return f"has another directory at {root}. Mount the same storage there"
        return list(work(piece))
    except OSError as error:
        return f"cannot read {root}: {error.strerror}. Mount the same storage there"
    except RootUnreadable as error:
        return error


def _inode(root: str) -> int:
    """Return the inode of a directory, equal on all machines that mount its file system."""
    return os.stat(root).st_ino

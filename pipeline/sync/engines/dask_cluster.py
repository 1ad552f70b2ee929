"""Engine that scans on a Dask cluster whose workers see the same storage."""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
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
"""Enough that the few milliseconds of handing over a task are little beside it."""
PIECES_AHEAD = 4
"""Pieces of each thread of the cluster: none waits for this process to ask again."""
CONNECT_WITHIN = 10
"""Seconds in which the scheduler must answer and have a worker."""

_Answer: TypeAlias = list[Any] | RootUnreadable | str
_Future: TypeAlias = "Future[_Answer]"


@contextmanager
def dask(scheduler: str | None = None) -> Iterator[Engine]:
    """Give an engine that scans on the cluster at an address, or on one started here.

    Results come in no particular order. Pieces of a worker that dies go to another; this process
    scans those that no worker finishes, so nothing is lost. Raises ClusterUnusable where no
    scheduler answers, or a worker sees another root or has another skilldrop.
    """
    # Dask logs tracebacks where skilldrop prints a sentence.
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
        # A client that never connected cannot be closed quietly.
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
    """Executor of the workers of a cluster, which tries the tasks of those that die again."""

    def __init__(self, client: Client, root: str) -> None:
        self._client = client
        self._call = partial(_checked, root, _inode(root), version("skilldrop"))
        self._tasks: dict[_Future, Task] = {}
        self._finished: SimpleQueue[_Future] = SimpleQueue()
        self._room = 0
        self._count_threads()

    def has_workers(self) -> bool:
        """Tell whether the cluster is there and has workers."""
        return bool(self._room)

    def has_room(self) -> bool:
        """Tell whether the cluster has fewer tasks than keep it at work."""
        return len(self._tasks) < self._room

    def submit(self, task: Task) -> None:
        """Give the cluster a task."""
        task.state = "submitted"
        future = self._client.submit(self._call, task.work, task.piece, pure=False)
        self._tasks[future] = task
        future.add_done_callback(self._finished.put)

    def wait(self, timeout: float) -> Sequence[Task]:
        """Wait until a task is done or returned; where the cluster has gone, all are returned."""
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
        is_there = self._client.status == "running"
        self._room = PIECES_AHEAD * sum(self._client.nthreads().values()) if is_there else 0


def _finish(task: Task, future: _Future) -> None:
    """Note the results of a task. Raises ClusterUnusable."""
    try:
        answer: _Answer = future.result(timeout=CONNECT_WITHIN)
    except (KilledWorker, OSError) as error:
        # Several workers died over it, or the one that had the answer did.
        log.warning(
            "The Dask cluster lost a piece (%s); this process scans it.", type(error).__name__
        )
        task.state = "returned"
        return
    except Exception as error:  # whatever a foreign worker's environment raises
        raise ClusterUnusable(
            f"A worker of the cluster cannot judge skills: {error}. Install the same skilldrop "
            "on all of them."
        ) from error
    if isinstance(answer, str):
        raise ClusterUnusable(f"A worker of the cluster {answer}.")
    if isinstance(answer, RootUnreadable):
        raise answer
    task.results.extend(answer)
    task.state = "done"


# In a worker


def _checked(
    root: str,
    inode: int,
    asked_version: str,
    work: Callable[[ScanScope], Iterator[Any]],
    piece: ScanScope,
) -> _Answer:
    """Return the results of a piece, or a sentence that says why this worker would not judge it."""
    if (here := version("skilldrop")) != asked_version:
        return f"has skilldrop {here}, not {asked_version}. Install the same one everywhere"
    try:
        if _inode(root) != inode:
            return f"sees another directory at {root}. Mount the same storage there"
        return list(work(piece))
    except OSError as error:
        return f"cannot read {root}: {error.strerror}. Mount the same storage there"
    except RootUnreadable as error:
        return error


def _inode(root: str) -> int:
    """Return the number of a directory on every machine that mounts its file system."""
    return os.stat(root).st_ino

"""Engine that scans on a Dask cluster whose workers see the same storage."""

import logging
import os
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from queue import Empty, SimpleQueue
from typing import TypeAlias

from distributed import Client, Future, LocalCluster
from distributed.comm.addressing import get_address_host_port
from distributed.scheduler import KilledWorker

from catalog.model.errors import ClusterUnusable, RootUnreadable
from pipeline.sync.engines import partition
from pipeline.sync.engines import processes as engines_processes
from pipeline.sync.engines.processes import PATIENCE, Engine
from pipeline.sync.engines.scanner import ScanOptions, ScanResult, ScanScope, scan

log = logging.getLogger("skilldrop")

PATHS_IN_A_PIECE = 64
"""Enough that the few milliseconds in which a task is handed over are little beside it."""
PIECES_AHEAD = 4
"""For each thread of the cluster: none waits for this process to ask again."""
CONNECT_WITHIN = 10
"""Seconds in which the scheduler must answer and a worker be there."""


@contextmanager
def dask(scheduler: str | None = None) -> Iterator[Engine]:
    """Give an engine that looks through the cluster at an address, or through one made here.

    What is seen comes in no particular order. The pieces of a worker that dies go to another;
    those that no worker finishes are looked at here, so nothing is lost. Raises ClusterUnusable
    where no scheduler answers or a worker sees another root or has another skilldrop.
    """
    # Dask's own log tells tracebacks of what is said in a sentence here.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if scheduler:
        with _connected(scheduler) as client:
            yield partial(_looked, client)
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
        yield partial(_looked, client)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        # Asked for first: a client that never connected cannot be closed quietly.
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


def _looked(client: Client, part: ScanScope, how: ScanOptions) -> Iterator[ScanResult | None]:
    paths = partition.apart(part, how)
    if not partition.is_worth_sharing(part, how, paths):
        yield from engines_processes.processes(part, how)
        return
    todo = deque(
        _Piece(some, _inode(part.root.path), version("skilldrop"))
        for some in partition.pieces(part, paths, PATHS_IN_A_PIECE)
    )
    asked: dict[_Future, _Piece] = {}
    answers: _Answers = SimpleQueue()
    while todo or asked:
        if _is_deserted(client):
            log.warning("The Dask cluster is gone; this process looks at the rest alone.")
            for piece in (*asked.values(), *todo):
                yield from scan(piece.part, how)
            return
        _ask(client, how, todo, asked, answers)
        try:
            future = answers.get(timeout=PATIENCE)
        except Empty:
            yield None
            continue
        yield from _answer(future, asked.pop(future), how)


_Answer: TypeAlias = list[ScanResult] | RootUnreadable | str
_Future: TypeAlias = "Future[_Answer]"
_Answers: TypeAlias = "SimpleQueue[_Future]"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some paths of a root, and how a worker can tell that it would judge the same."""

    part: ScanScope
    root_inode: int
    version: str


def _ask(
    client: Client,
    how: ScanOptions,
    todo: "deque[_Piece]",
    asked: dict[_Future, _Piece],
    answers: "_Answers",
) -> None:
    """Give the cluster pieces until it has enough of them."""
    while todo and len(asked) < PIECES_AHEAD * sum(client.nthreads().values()):
        future = client.submit(_look_at, todo[0], how, pure=False)
        asked[future] = todo.popleft()
        future.add_done_callback(answers.put)


def _is_deserted(client: Client) -> bool:
    return client.status != "running" or not client.nthreads()


def _answer(future: _Future, piece: _Piece, how: ScanOptions) -> Sequence[ScanResult]:
    try:
        answer: _Answer = future.result(timeout=CONNECT_WITHIN)
    except (KilledWorker, OSError) as error:
        # Several workers died of it, or the one that had the answer did.
        log.warning(
            "The Dask cluster lost a piece (%s); this process looks at it.", type(error).__name__
        )
        return list(scan(piece.part, how))
    except Exception as error:  # whatever a foreign worker's environment raises
        raise ClusterUnusable(
            f"A worker of the cluster cannot judge skills: {error}. Install the same skilldrop "
            "on all of them."
        ) from error
    if isinstance(answer, str):
        raise ClusterUnusable(f"A worker of the cluster {answer}.")
    if isinstance(answer, RootUnreadable):
        raise answer
    return answer


# In a worker


def _look_at(piece: _Piece, how: ScanOptions) -> _Answer:
    """Return what is seen in a piece, or in words why it must not be believed."""
    root = piece.part.root.path
    if (here := version("skilldrop")) != piece.version:
        return f"has skilldrop {here}, not {piece.version}. Install the same one everywhere"
    try:
        if _inode(root) != piece.root_inode:
            return f"sees another directory at {root}. Mount the same storage there"
        return list(scan(piece.part, how))
    except OSError as error:
        return f"cannot read {root}: {error.strerror}. Mount the same storage there"
    except RootUnreadable as error:
        return error


def _inode(root: str) -> int:
    """Return what a directory is known by on every machine that mounts its file system."""
    return os.stat(root).st_ino

"""Dask engine: scans on a Dask cluster whose workers mount the same storage."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from distributed import Client
from distributed.client import ClosedClientError
from distributed.comm.addressing import get_address_host_port

from catalog.model.errors import ClusterUnusable
from catalog.model.skill import RootSpec
from catalog.model.values import VERSION
from pipeline.service.scanning.engines import (
    PIECES_AHEAD,
    Engine,
    Piece,
    Results,
    if_worth_it,
    judge_piece,
    share,
)
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope, Unread

log = logging.getLogger("skilldrop")

CONNECT_WITHIN = 10
"""Seconds within which the scheduler must answer and have a worker."""
SILENT_FOR = 30
"""Seconds without an answer after which workers count as lost; an answer takes about one."""


@contextmanager
def dask(scheduler: str) -> Iterator[Engine]:
    """Give an engine that scans on the cluster of the scheduler at an address.

    If a worker dies, another takes its pieces; this process scans pieces that no worker finishes,
    so nothing is lost. Raises ClusterUnusable if no scheduler answers, or none with a worker, or if
    a worker has another root at the path or another version of skilldrop.
    """
    _silence_libraries()
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
        yield partial(_scan, client)


def _silence_libraries() -> None:
    """Hide the tracebacks that Dask logs for errors that skilldrop reports in one sentence.

    Several of its loggers have a level of their own, which the level of their parent leaves alone.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _scan(client: Client, scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
    """Scan with the workers of a cluster, which repeats the work of dead ones."""

    def on_cluster(found: Iterator[ScanResult | Unread]) -> Iterator[ScanResult | None]:
        work = partial(_checked, _inode(scope.root.path), VERSION)
        room = partial(_room, client)
        executor = client.get_executor(pure=False)
        try:
            yield from share(executor, scope, found, options, room=room, work=work, note_lost=_warn)
        finally:
            with suppress(ClosedClientError):  # the cluster is gone
                executor.shutdown(wait=False)

    return if_worth_it(scope, options, on_cluster)


def _room(client: Client, silent: float) -> int:
    """Return how many pieces may be in flight; 0 if the cluster is gone or does not answer."""
    threads = 0
    with suppress(OSError):  # the scheduler died a moment ago, or does not answer
        if client.status == "running":
            threads = sum(client.nthreads(callback_timeout=CONNECT_WITHIN).values())
    if not threads:
        log.warning("The Dask cluster is gone; this process scans the rest alone.")
        return 0
    if silent >= SILENT_FOR:
        log.warning(
            "The Dask cluster has not answered for %s s; this process scans the rest alone.",
            SILENT_FOR,
        )
        return 0
    return PIECES_AHEAD + threads


def _warn(error: Exception) -> None:
    """Warn of a piece that no worker finished."""
    log.warning("The Dask cluster lost a piece (%s); this process scans it.", type(error).__name__)


def _checked(
    inode: int, expected_version: str, root: RootSpec, piece: Piece, options: ScanOptions
) -> Results:
    """Judge in a worker of the cluster, unless its version or its root is another one."""
    if expected_version != VERSION:
        raise ClusterUnusable(
            f"A worker of the cluster has skilldrop {VERSION}, not {expected_version}. Install the "
            "same everywhere."
        )
    try:
        if _inode(root.path) == inode:
            return judge_piece(root, piece, options)
    except OSError as error:
        raise ClusterUnusable(
            f"A worker of the cluster cannot read {root.path}: {error.strerror}. Mount the same "
            "storage there."
        ) from error
    raise ClusterUnusable(
        f"A worker of the cluster has another directory at {root.path}. Mount the same storage "
        "there."
    )


def _inode(root: str) -> int:
    """Return the inode of a directory, equal on all machines that mount its file system."""
    return os.stat(root).st_ino

"""One process writes a catalog; when it dies, the next one can."""

import os
import socket
from pathlib import Path

import pytest

from catalog.database.lock import WriterLock, is_locked
from catalog.model.errors import CatalogBusy


def test_a_second_writer_learns_the_process_of_the_first(tmp_path: Path) -> None:
    """It may write once the first has released the lock."""
    first = WriterLock(tmp_path / "lock")
    with pytest.raises(CatalogBusy, match=f"process {os.getpid()} "):
        WriterLock(tmp_path / "lock")
    first.close()
    WriterLock(tmp_path / "lock").close()


def test_a_fork_does_not_hold_the_lock_of_its_parent(tmp_path: Path) -> None:
    """It may outlive its parent for a moment, in which a successor would be refused."""
    lock = WriterLock(tmp_path / "lock")
    ours, theirs = socket.socketpair()
    if not (child := os.fork()):
        try:
            ours.close()
            theirs.send(b"here")
            theirs.recv(1)  # until the other end is closed
        finally:
            os._exit(0)
    theirs.close()
    ours.recv(4)
    was_held = is_locked(tmp_path / "lock")
    lock.close()
    is_held = is_locked(tmp_path / "lock")
    ours.close()
    os.waitpid(child, 0)
    assert was_held
    assert not is_held

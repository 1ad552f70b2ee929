"""One process writes a catalog; when it dies, the next one can."""

import fcntl
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def disk_refuses_writes() -> Iterator[None]:
    """Let the system refuse each byte that this process writes to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_lock_that_cannot_be_written_is_not_kept(tmp_path: Path) -> None:
    """The same process can take it once the disk is well again."""
    with disk_refuses_writes(), pytest.raises(OSError, match="File too large"):
        WriterLock(tmp_path / "lock")
    assert not is_locked(tmp_path / "lock")
    WriterLock(tmp_path / "lock").close()


def test_a_writer_waits_for_whoever_only_asks_whether_the_lock_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page of the site asks, and a service that starts in that instant is not refused."""
    with (tmp_path / "lock").open("w") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        with pytest.raises(CatalogBusy):
            WriterLock(tmp_path / "lock")
        monkeypatch.setattr("time.sleep", lambda _: asking.close())
        WriterLock(tmp_path / "lock").close()


def test_a_lock_is_released_without_its_note_if_the_disk_refuses_that(tmp_path: Path) -> None:
    """The next holder finds no note, as after a crash."""
    lock = WriterLock(tmp_path / "lock")
    with disk_refuses_writes():
        lock.close("closed\n")
    assert not is_locked(tmp_path / "lock")
    successor = WriterLock(tmp_path / "lock")
    assert successor.left != "closed\n"
    successor.close()


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

"""Lock that admits one writing process to a catalog, and names it."""

import os
import time
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from catalog.model.errors import CatalogBusy

try:
    import fcntl
except ImportError:  # on Windows, where no catalog is written
    fcntl = None  # type: ignore[assignment]


class WriterLock:
    """Lock from construction to `close`; the system releases it when the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises CatalogBusy, which names the process that has it."""
        self._path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self.left = self._take()
            """Note of the last holder, or its process number if it was killed."""
        except BaseException:  # an open file would keep the lock
            os.close(self._handle)
            raise
        _held.add(self)

    def _take(self) -> str:
        """Lock the file and write this process into it; return its former content."""
        for pause in (0.05, 0.0):  # a process that only asks has the lock for an instant
            with suppress(BlockingIOError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(pause)
        else:
            holder = os.read(self._handle, 32).decode(errors="replace").strip() or "unknown"
            raise CatalogBusy(
                f"The catalog is being written by process {holder} (lock {self._path}). "
                "Stop that process first, or use another --data directory."
            )
        left = os.pread(self._handle, 1024, 0).decode(errors="replace")
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)
        return left

    def is_in_place(self) -> bool:
        """Return whether the lock file is still under its path, where other processes find it."""
        return is_same_file(self._path, os.fstat(self._handle))

    def close(self, leaving: str | None = None) -> None:
        """Release the lock, with a note for the next owner if the disk has room.

        The file stays: without it, two processes could hold the lock.
        """
        _held.discard(self)
        try:
            if leaving is not None:
                with suppress(OSError):
                    os.ftruncate(self._handle, 0)
                    os.pwrite(self._handle, leaving.encode(), 0)
        finally:
            os.close(self._handle)


_held: WeakSet[WriterLock] = WeakSet()


def _release_in_child() -> None:
    """Close the locks that a fork inherited, as it might outlive the process that took them."""
    for lock in list(_held):
        lock.close()


if fcntl:
    os.register_at_fork(after_in_child=_release_in_child)


def lock_of(catalog: Path) -> Path:
    """Return the path of a catalog file's lock."""
    return catalog.with_name(f"{catalog.name}.lock")


def is_locked(path: Path) -> bool:
    """Return whether a process has a lock, or may have. It is held for an instant to find out."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def is_same_file(path: Path, opened: os.stat_result) -> bool:
    """Return whether an open file is still the one under its path."""
    try:
        return os.path.samestat(os.stat(path), opened)
    except OSError:
        return False

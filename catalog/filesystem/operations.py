"""Operations on files and folders that follow no link, and that replace all or nothing."""

import ctypes
import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from stat import S_IMODE, S_ISLNK, S_ISREG
from typing import IO, NamedTuple

from catalog.model.errors import NotPossible, PathRefused
from catalog.text.visible import printable

OPENS_DIRECTORIES = os.open in os.supports_dir_fd
"""Whether the system can open a directory, and files by their names in it; Windows cannot."""


def flags(names: str) -> int:
    """Return flags of open(2), without those that the system does not have."""
    return sum(getattr(os, f"O_{name}", 0) for name in names.split())


DIRECTORY = flags("DIRECTORY NOFOLLOW")
"""Flags to open a directory, but no link to one."""
_NO_DIRECTORY = {errno.ENOTDIR, errno.ELOOP}
# Opening a FIFO would block, and a terminal could become the controlling terminal.
FILE = flags("NOFOLLOW NONBLOCK NOCTTY BINARY")
"""Flags to open a file, but no link to one."""
_NO_FILE = {*_NO_DIRECTORY, errno.ENXIO}  # of a link, of a file as a directory, of a socket


def open_directory(name: str, dir_fd: int) -> int | None:
    """Open a directory by its name in an open one; None if the name is a link or a file.

    The caller closes it. Raises FileNotFoundError and other OSErrors.
    """
    try:
        return os.open(name, DIRECTORY, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in _NO_DIRECTORY:
            return None
        raise


@contextmanager
def directory(path: str | Path) -> Iterator[int]:
    """Yield an open directory; links in its path are followed. Raises OSError and NotPossible."""
    if not OPENS_DIRECTORIES:
        raise NotPossible(
            "No catalog can be kept on this system; `validate`, `new` and `pull` work here."
        )
    dir_fd = os.open(path, os.O_DIRECTORY)
    try:
        yield dir_fd
    finally:
        os.close(dir_fd)


@contextmanager
def descended(dir_fd: int, names: Sequence[str]) -> Iterator[int]:
    """Yield the open directory at a path of names below an open one.

    Raises NotADirectoryError if one of the names is a link or a file, and other OSErrors.
    """
    opened: list[int] = []
    try:
        for name in names:
            below = open_directory(name, opened[-1] if opened else dir_fd)
            if below is None:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
            opened.append(below)
        yield opened[-1] if opened else dir_fd
    finally:
        for descriptor in opened:
            os.close(descriptor)


def open_file(top: str, directories: Sequence[str], path: str) -> BufferedReader:
    """Open a regular file by its path below nested `directories` of `top`.

    `top` is trusted. The names in `directories` and the parts of the path are not: each must be a
    real directory, and the last part a regular file. The caller closes the file. Raises
    PathRefused, FileNotFoundError and other OSErrors.
    """
    *folders, name = names = [*directories, *path.split("/")]
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in names):
        raise PathRefused(f"'{printable(path, 120)}' is not a path of a file inside a skill.")
    try:
        with directory(top) as top_fd, descended(top_fd, folders) as dir_fd:
            handle = os.open(name, FILE, dir_fd=dir_fd)
        if S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
    raise PathRefused(
        f"'{printable(path, 120)}' is a link or a special file on disk, not the regular file of "
        "the catalog; it is not opened."
    )


def set_mode(name: str, dir_fd: int, mode: int) -> None:
    """Set the mode of a file or directory, even of an unreadable one; ignore links."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=dir_fd)
    try:
        current = os.fstat(handle).st_mode
        if not S_ISLNK(current) and S_IMODE(current) != mode:
            os.chmod(f"/proc/self/fd/{handle}", mode)
    finally:
        os.close(handle)


def remove(name: str, dir_fd: int) -> None:
    """Remove a file, a link or a tree, even a read-only one; ignore a missing name.

    The target of a link stays, and so does a mounted file system. Raises OSError.
    """
    mount = _mount_of(dir_fd)
    below = _removable(name, dir_fd, mount)
    if below is None:
        return
    levels = [below]
    try:
        while levels:
            level = levels[-1]
            inner = next(
                filter(None, (_removable(entry, level.dir_fd, mount) for entry in level.names)),
                None,
            )
            if inner:
                levels.append(inner)
                continue
            os.rmdir(level.name, dir_fd=levels[-2].dir_fd if len(levels) > 1 else dir_fd)
            os.close(levels.pop().dir_fd)
    finally:
        for level in levels:
            os.close(level.dir_fd)


def remove_made(path: str | Path, made: os.stat_result) -> None:
    """Remove the entry at a path if it is still the one that was made there; ignore errors.

    `made` is the stat of the entry from the time it was made.
    """
    parent, name = os.path.split(path)
    with suppress(OSError), directory(parent or ".") as dir_fd:
        if os.path.samestat(os.stat(name, dir_fd=dir_fd, follow_symlinks=False), made):
            remove(name, dir_fd)


class _Level(NamedTuple):
    """Directory whose content is being removed."""

    name: str
    dir_fd: int
    names: Iterator[str]  # entries still to be removed


def _removable(name: str, dir_fd: int, mount: bytes) -> _Level | None:
    """Remove a file or link; open a directory, make it writable and return it."""
    try:
        folder = open_directory(name, dir_fd)
    except FileNotFoundError:
        return None
    except PermissionError:
        set_mode(name, dir_fd, 0o700)
        folder = open_directory(name, dir_fd)
    if folder is None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=dir_fd)
        return None
    try:
        if _mount_of(folder) != mount:
            raise OSError(errno.EBUSY, "a file system is mounted there", name)
        if S_IMODE(os.fstat(folder).st_mode) & 0o700 != 0o700:
            os.fchmod(folder, 0o700)
        return _Level(name, folder, iter(os.listdir(folder)))
    except BaseException:
        os.close(folder)
        raise


def _mount_of(directory: int) -> bytes:
    """Return an identifier of the mount of an open directory; bind mounts differ, too.

    Source: proc_pid_fdinfo(5). Without /proc it is only the device number.
    """
    try:
        with open(f"/proc/self/fdinfo/{directory}", "rb") as lines:
            return next((line for line in lines if line.startswith(b"mnt_id:")), b"")
    except OSError:
        return str(os.fstat(directory).st_dev).encode()


@contextmanager
def named(path: str | Path) -> Iterator[None]:
    """Make an OSError name the full path: operations by descriptor name only a part of it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def sync(dir_fd: int) -> None:
    """Wait until the file system of an open directory is written to disk. Raises OSError."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", lambda _: os.sync())
    if syncfs(dir_fd):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def sync_folder(path: Path) -> None:
    """Wait until a folder is written to disk, if the system can open one. Raises OSError."""
    if OPENS_DIRECTORIES:
        with named(path), directory(path) as folder:
            sync(folder)


@contextmanager
def replaced(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """Yield a new file beside a path, which replaces it at the end, or is removed. Raises OSError.

    Scans ignore its name.
    """
    handle, beside = tempfile.mkstemp(prefix=".skilldrop-", dir=path.parent)
    try:
        with open(handle, "w+b") as file:
            yield file
            file.flush()
            if OPENS_DIRECTORIES:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    sync_folder(path.parent)


_AT_FDCWD, _EXCHANGE = -100, 2  # of renameat2(2)
_NOT_THERE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def exchange_names(one: Path | str, other: Path | str, dir_fd: int = _AT_FDCWD) -> None:
    """Exchange two files or folders of one file system. Raises OSError.

    Relative paths start from an open directory. Where the system cannot exchange them atomically,
    `other` is missing for a moment.
    """
    if rename := getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None):
        if rename(dir_fd, os.fsencode(one), dir_fd, os.fsencode(other), _EXCHANGE) == 0:
            return
        if (code := ctypes.get_errno()) not in _NOT_THERE:
            raise OSError(code, os.strerror(code), str(other))
    _exchange_in_steps(one, other, dir_fd)


def _exchange_in_steps(one: Path | str, other: Path | str, dir_fd: int) -> None:
    """Exchange two names through a third one, which scans ignore."""
    third = os.path.join(os.path.dirname(one), third_name(os.path.basename(one)))

    def rename(old: Path | str, new: Path | str) -> None:
        os.rename(old, new, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    rename(one, third)
    rename(other, one)
    try:
        rename(third, other)
    except BaseException:
        rename(one, other)
        rename(third, one)
        raise


def third_name(one: str) -> str:
    """Return the name that an entry may have for a moment; a kill can leave it."""
    return f".skilldrop-{one}"

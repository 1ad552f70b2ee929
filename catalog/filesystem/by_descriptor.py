"""Works on names in directories that are open, by descriptor, so that no link is ever followed."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISLNK
from typing import NamedTuple

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a directory is opened that is no link."""
_NO_DIRECTORY = {errno.ENOTDIR, errno.ELOOP}


def open_directory(name: str, at: int) -> int | None:
    """Open a directory by its name in an open one; None where a link or a file has that name.

    Raises FileNotFoundError and other OSErrors. The caller closes it.
    """
    try:
        return os.open(name, DIRECTORY, dir_fd=at)
    except OSError as error:
        if error.errno in _NO_DIRECTORY:
            return None
        raise


@contextmanager
def directory(path: str | Path) -> Iterator[int]:
    """Give a directory as an open one, through links in its path, closed in the end."""
    at = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield at
    finally:
        os.close(at)


@contextmanager
def descended(at: int, names: Sequence[str]) -> Iterator[int]:
    """Give the directory at some names below an open one.

    Raises NotADirectoryError where a link or a file has one of the names, and other OSErrors.
    """
    opened: list[int] = []
    try:
        for name in names:
            below = open_directory(name, opened[-1] if opened else at)
            if below is None:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
            opened.append(below)
        yield opened[-1] if opened else at
    finally:
        for each in opened:
            os.close(each)


def set_mode(name: str, at: int, mode: int) -> None:
    """Give a file or directory a mode, also one that may not be read; a link is left alone."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        found = os.fstat(handle).st_mode
        if not S_ISLNK(found) and S_IMODE(found) != mode:
            os.chmod(f"/proc/self/fd/{handle}", mode)
    finally:
        os.close(handle)


def remove(name: str, at: int) -> None:
    """Remove a file, a link or a read-only tree; nothing is asked of what is not there.

    Of a link the link goes, and what it leads to stays; so does what is mounted there. Raises
    OSError.
    """
    mount = _mount_of(at)
    below = _removable(name, at, mount)
    if below is None:
        return
    levels = [below]
    try:
        while levels:
            level = levels[-1]
            inner = next(
                filter(None, (_removable(each, level.at, mount) for each in level.names)), None
            )
            if inner:
                levels.append(inner)
                continue
            os.rmdir(level.name, dir_fd=levels[-2].at if len(levels) > 1 else at)
            os.close(levels.pop().at)
    finally:
        for level in levels:
            os.close(level.at)


def remove_made(path: str | Path, made: os.stat_result) -> None:
    """Remove what has a path, as far as that can be, if it is still what was made there.

    made is its stat from then.
    """
    parent, name = os.path.split(path)
    with suppress(OSError), directory(parent or ".") as at:
        if os.path.samestat(os.stat(name, dir_fd=at, follow_symlinks=False), made):
            remove(name, at)


class _Level(NamedTuple):
    """A directory whose content is being removed."""

    name: str
    at: int
    names: Iterator[str]  # what of it is still to go


def _removable(name: str, at: int, mount: bytes) -> _Level | None:
    """Remove what is no directory; open and return what is one, made writable."""
    try:
        folder = open_directory(name, at)
    except FileNotFoundError:
        return None
    except PermissionError:
        set_mode(name, at, 0o700)
        folder = open_directory(name, at)
    if folder is None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=at)
        return None
    try:
        if _mount_of(folder) != mount:
            raise OSError(errno.EBUSY, "something is mounted there", name)
        if S_IMODE(os.fstat(folder).st_mode) & 0o700 != 0o700:
            os.fchmod(folder, 0o700)
        return _Level(name, folder, iter(os.listdir(folder)))
    except BaseException:
        os.close(folder)
        raise


def _mount_of(directory: int) -> bytes:
    """Return what tells the mount of an open directory from others, bind mounts among them.

    Source: proc_pid_fdinfo(5). Without /proc, that is the device alone.
    """
    try:
        handle = os.open(f"/proc/self/fdinfo/{directory}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return str(os.fstat(directory).st_dev).encode()
    try:
        lines = os.read(handle, 1024).splitlines()
    finally:
        os.close(handle)
    return next((line for line in lines if line.startswith(b"mnt_id:")), b"")


@contextmanager
def named(path: str | Path) -> Iterator[None]:
    """Let an OSError from inside name a path: by descriptor, it would name a part of one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error

"""Marker files that identify folders made by skilldrop."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from catalog.filesystem.operations import DIRECTORY, FILE, directory, flags
from catalog.model.errors import FolderNotOwned

MARKER = ".skilldrop"
"""Name of the file with the kind of a folder and the identity of its catalog. An empty one hands
the folder over to the next catalog that uses it."""

FolderKind: TypeAlias = Literal["packages", "index", "skills", "outcomes", "mirrors"]


class OwnedFolder(NamedTuple):
    """Folder that skilldrop writes to."""

    path: Path
    kind: FolderKind


def identity_of(folders: Iterable[OwnedFolder]) -> str | None:
    """Return the first identity found in the folders; links are ignored.

    A new catalog takes it over, because it replaces one that was lost.
    """
    for folder in folders:
        try:
            dir_fd = os.open(folder.path, DIRECTORY)
        except OSError:
            continue  # its reader reports the error
        try:
            if (marker := _read_marker(dir_fd)) and marker[0] == folder.kind:
                return marker[1]
        finally:
            os.close(dir_fd)
    return None


def refuse_others(folders: Iterable[OwnedFolder], identity: str | None) -> None:
    """Raise FolderNotOwned if a folder does not belong to this catalog; write nothing."""
    for folder in folders:
        if os.path.lexists(folder.path):
            with directory(folder.path) as dir_fd:
                _ownership(folder, identity, dir_fd)


def refuse_owned(dir_fd: int, path: str | Path) -> None:
    """Raise OSError if an open directory, which others should own, belongs to a catalog."""
    with suppress(FileNotFoundError):
        os.stat(MARKER, dir_fd=dir_fd, follow_symlinks=False)
        raise OSError(errno.EPERM, "it belongs to a catalog of skilldrop", str(path))


@contextmanager
def opened(folder: OwnedFolder, identity: str) -> Iterator[int]:
    """Yield a folder as an open directory; create and mark it if necessary.

    Raises FolderNotOwned, before anything is written, if it does not belong to this catalog, and
    OSError.
    """
    with suppress(FileExistsError):
        os.makedirs(folder.path)
    with directory(folder.path) as dir_fd:
        if not _ownership(folder, identity, dir_fd):
            _mark(folder.kind, identity, dir_fd)
        yield dir_fd


def _ownership(folder: OwnedFolder, identity: str | None, dir_fd: int) -> bool:
    """Return whether a folder has this catalog's marker; False if it may get one.

    Raises FolderNotOwned.
    """
    for _ in range(2):  # another skilldrop process may mark it between the two checks
        marker = _read_marker(dir_fd)
        if marker == (folder.kind, identity):
            return True
        if marker == () or (marker is None and not os.listdir(dir_fd)):
            return False
    reason = (
        "belongs to another catalog"
        if marker and marker[0] == folder.kind
        else "is not empty and has no marker of skilldrop"
    )
    raise FolderNotOwned(
        f"{folder.path} {reason}, so nothing in it is changed. Move it away, choose another --data "
        f"directory, or hand it over with an empty file {folder.path}/{MARKER}."
    )


def _read_marker(dir_fd: int) -> tuple[str, ...] | None:
    """Return kind and identity from the marker of an open folder; nothing if it is empty.

    Without a marker it is None.
    """
    try:
        handle = os.open(MARKER, FILE, dir_fd=dir_fd)
    except OSError:
        return None
    try:
        content = os.read(handle, _LINE)
    except OSError:  # a directory
        return None
    finally:
        os.close(handle)
    if not content.strip():
        return () if len(content) < _LINE else None
    line = content.partition(b"\n")[0].decode(errors="replace").split()
    return tuple(line[1:]) if line[:1] == ["skilldrop"] else None


def _mark(kind: FolderKind, identity: str, dir_fd: int) -> None:
    handle = os.open(MARKER, flags("WRONLY CREAT TRUNC NOFOLLOW"), 0o644, dir_fd=dir_fd)
    try:
        os.fchmod(handle, 0o644)
        os.write(handle, f"skilldrop {kind} {identity}\n{_EXPLAINED}\n".encode())
    finally:
        os.close(handle)


_LINE = 200
"""Most bytes of the first line of a marker."""
_EXPLAINED = "Made by skilldrop, which removes nothing from folders without this file."

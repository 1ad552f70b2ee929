"""Marker files that tell the folders made by skilldrop from all others."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from uuid import uuid4

from catalog.filesystem.by_descriptor import DIRECTORY, directory
from catalog.model.errors import FolderNotOwned

MARKER = ".skilldrop"
"""The file that says what a folder is and which catalog it belongs to. An empty one hands the
folder over to the catalog that finds it."""

FolderKind: TypeAlias = Literal["packages", "index", "outcomes"]


class OwnedFolder(NamedTuple):
    """A folder to which skilldrop writes."""

    path: Path
    kind: FolderKind


def new_identity() -> str:
    """Return an identity for a catalog that has none."""
    return uuid4().hex


def identity_of(folders: Iterable[OwnedFolder]) -> str | None:
    """Return the identity of the first folder that has one, of those that are no link.

    A new catalog takes it over: it comes in the place of one that was lost.
    """
    for folder in folders:
        try:
            at = os.open(folder.path, DIRECTORY)
        except OSError:
            continue
        try:
            if (said := _said(at)) and said[0] == folder.kind:
                return said[1]
        finally:
            os.close(at)
    return None


def refuse_others(
    folders: Iterable[OwnedFolder],
    identity: str | None,
    knows: Callable[[FolderKind, int], bool] = lambda *_: False,
) -> None:
    """Raise FolderNotOwned where a folder is not this catalog's; nothing is written.

    knows tells whether the catalog knows what lies in an open folder without a marker.
    """
    for folder in folders:
        if os.path.lexists(folder.path):
            with directory(folder.path) as at:
                _ownership(folder, identity, at, knows)


@contextmanager
def opened(
    folder: OwnedFolder, identity: str, knows: Callable[[FolderKind, int], bool] = lambda *_: False
) -> Iterator[int]:
    """Give a folder as an open directory; it is made where there is none, and marked.

    Raises FolderNotOwned, before anything is written, where it is not this catalog's, and
    OSError.
    """
    try:
        at = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        os.makedirs(folder.path, exist_ok=True)
        at = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _ownership(folder, identity, at, knows):
            _mark(folder.kind, identity, at)
        yield at
    finally:
        os.close(at)


def _ownership(
    folder: OwnedFolder, identity: str | None, at: int, knows: Callable[[FolderKind, int], bool]
) -> bool:
    """Tell whether a folder is marked as ours; False where it may be. Raises FolderNotOwned."""
    for _ in range(2):  # another skilldrop process may mark it between two looks
        said = _said(at)
        if said == (folder.kind, identity):
            return True
        if said == () or (said is None and (not os.listdir(at) or knows(folder.kind, at))):
            return False
    why = (
        "belongs to another catalog"
        if said and said[0] == folder.kind
        else ("is not empty and has no marker of skilldrop's")
    )
    raise FolderNotOwned(
        f"{folder.path} {why}, so nothing in it is touched. Move it away, name another --data "
        f"directory, or hand it over with an empty file {folder.path}/{MARKER}."
    )


def _said(at: int) -> tuple[str, ...] | None:
    """Return kind and identity by the marker of an open folder; nothing where that is empty.

    None where there is no marker.
    """
    try:
        handle = os.open(
            MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at
        )
    except OSError:
        return None
    try:
        found = os.read(handle, _LINE)
    except OSError:  # a directory
        return None
    finally:
        os.close(handle)
    if not found.strip():
        return () if len(found) < _LINE else None
    line = found.partition(b"\n")[0].decode(errors="replace").split()
    return tuple(line[1:]) if line[:1] == ["skilldrop"] else None


def _mark(kind: FolderKind, identity: str, at: int) -> None:
    handle = os.open(
        MARKER,
        os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC,
        0o644,
        dir_fd=at,
    )
    try:
        os.fchmod(handle, 0o644)
        os.write(handle, f"skilldrop {kind} {identity}\n{_EXPLAINED}\n".encode())
    finally:
        os.close(handle)


_LINE = 200
"""Bytes in which the first line of a marker fits."""
_EXPLAINED = "Made by skilldrop, which removes nothing from a folder without this file."

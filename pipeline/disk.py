"""The only reader of the roots: finds skill folders, fingerprints them and reads them whole."""

import codecs
import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG, S_IXUSR
from typing import Self

from catalog.errors import RootUnreadable
from catalog.record import FileEntry, Finding, Kind
from pipeline.directory import holds_skill_md
from pipeline.findings.registry import finding
from pipeline.links import path_behind_links
from pipeline.names import os_path, text_path
from pipeline.signature import Entry, Folder, Limits
from pipeline.snapshot import Snapshot, digest, kind_of
from pipeline.walk import DEFAULT_LIMITS, Stray, look, unit_of, walk

__all__ = [
    "DEFAULT_LIMITS", "Folder", "Limits", "Stray", "is_skill_folder", "look", "os_path", "read",
    "text_path", "unit_of", "walk",
]

_CHUNK = 1024 * 1024
"""Bytes read at once; whether a file is text is judged by the first of them."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IS_LINK = frozenset({errno.ELOOP, errno.ENOTDIR})  # what opening one with these flags raises

_INCOMPLETE = frozenset({"file-unreadable", "directory-unreadable", "skill-md-not-a-file"})


def read(root: Path, folder: Folder, limits: Limits = DEFAULT_LIMITS) -> Snapshot | None:
    """Read and hash the files of a folder; None if it is no longer as the walk saw it.

    Of a folder that exceeds a limit SKILL.md alone is read, so that its rejection has a name.
    """
    try:
        snapshot = _read(os.path.abspath(root), folder, limits)
        now = look(root, folder.path, limits)
    except (OSError, RootUnreadable):
        # Vanished or exchanged meanwhile, or a trouble of the system's that may pass.
        return None
    return snapshot if now and now.fingerprint == folder.fingerprint else None


def is_skill_folder(path: Path) -> bool:
    """Say whether a directory directly holds SKILL.md in any spelling."""
    return holds_skill_md(os.fspath(path))


def _read(root: str, folder: Folder, limits: Limits) -> Snapshot:
    """Read a folder; OSError where it is no longer as the walk saw it."""
    name = folder.skill_md_name
    skill_md: bytes | None = None
    files: list[FileEntry] = []
    problems = list(folder.problems)
    head_bytes = max(_CHUNK, limits.skill_md_bytes, limits.text_bytes)
    with _Folder(root, os_path(folder.path)) as opened:
        for path, stat in _worth_reading(folder, limits):
            try:
                sha256, head = opened.read(os_path(path), stat, head_bytes)
            except PermissionError as error:
                problems.append(_unreadable(path, error))
                continue
            if path == name:
                skill_md = head
            text_bytes = 0 if path == name else limits.text_bytes
            files.append(_file_entry(path, stat, sha256, head, kind_of(path, name), text_bytes))
    is_whole = not folder.exceeds_limits and _INCOMPLETE.isdisjoint(p.code for p in problems)
    return Snapshot(
        path=folder.path,
        skill_md_name=None if skill_md is None else name,
        skill_md=skill_md or b"",
        files=tuple(files),
        fingerprint=folder.fingerprint,
        digest=digest(files) if is_whole else None,
        problems=tuple(problems),
    )


def _worth_reading(folder: Folder, limits: Limits) -> Iterator[Entry]:
    name = folder.skill_md_name
    for path, stat in folder.entries:
        if path == name and stat.st_size > limits.skill_md_bytes:
            continue
        if path == name or not folder.exceeds_limits:
            yield path, stat


def _file_entry(
    path: str, stat: os.stat_result, sha256: str, head: bytes, kind: Kind, text_bytes: int
) -> FileEntry:
    is_text = _is_text(head, whole=len(head) == stat.st_size)
    return FileEntry(
        path=path,
        size=stat.st_size,
        sha256=sha256,
        # The other permission bits depend on whose umask wrote the file.
        mode=0o755 if stat.st_mode & S_IXUSR else 0o644,
        kind=kind,
        is_text=is_text,
        text=head.decode("utf-8-sig") if is_text and stat.st_size <= text_bytes else None,
    )


def _is_text(head: bytes, *, whole: bool) -> bool:
    """Say whether bytes are UTF-8 without NUL; the last character of a mere head may be cut."""
    if b"\0" in head:
        return False
    try:
        codecs.utf_8_decode(head, "strict", whole)
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(path: str, error: OSError) -> Finding:
    return finding("file-unreadable", f"It cannot be read: {error.strerror}.", path=path)


class _Folder:
    """A skill folder opened for reading, with one directory of it at a time.

    Every path is opened part by part below the root and no part may be a link, so that nobody
    can lead us out of the root by exchanging a directory for a link at the right moment. Where
    a link is meant, the path behind it is found first and then opened in the same way.
    """

    def __init__(self, root: str, path: str) -> None:
        self._root = root
        self._path = path
        self._top = _open_in_root(root, path, _DIRECTORY)
        self._inner = ""  # the directory that is open
        self._opened = os.dup(self._top)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._opened)
        os.close(self._top)

    def read(self, path: str, expected: os.stat_result, head_bytes: int) -> tuple[str, bytes]:
        """Return the SHA-256 of a file and its first bytes, read in one pass.

        PermissionError if it must not be read, OSError if it is not the file that was expected.
        """
        file = self._open(path)
        try:
            found = os.fstat(file)
            if not S_ISREG(found.st_mode) or _identity(found) != _identity(expected):
                raise OSError(errno.ESTALE, "changed since it was seen", path)
            return _hashed(file, expected.st_size, head_bytes)
        finally:
            os.close(file)

    def _open(self, path: str) -> int:
        inner, _, name = path.rpartition("/")
        try:
            return os.open(name, _FILE, dir_fd=self._enter(inner))
        except OSError as error:
            if error.errno not in _IS_LINK:
                raise
        return _open_in_root(self._root, f"{self._path}/{path}", _FILE)

    def _enter(self, inner: str) -> int:
        if inner != self._inner:
            below = _open_below(self._top, inner, _DIRECTORY) if inner else os.dup(self._top)
            os.close(self._opened)
            self._inner, self._opened = inner, below
        return self._opened


def _open_in_root(root: str, path: str, flags: int) -> int:
    top = os.open(root, _DIRECTORY & ~os.O_NOFOLLOW)
    try:
        return _open_below(top, path, flags)
    except OSError as error:
        if error.errno not in _IS_LINK:
            raise
        behind = path_behind_links(root, f"{root}/{path}")
        if behind is None:
            raise
        return _open_below(top, behind, flags)
    finally:
        os.close(top)


def _open_below(directory: int, path: str, flags: int) -> int:
    *parents, name = path.split("/")
    at = directory
    try:
        for parent in parents:
            below = os.open(parent, _DIRECTORY, dir_fd=at)
            if at != directory:
                os.close(at)
            at = below
        return os.open(name, flags, dir_fd=at)
    finally:
        if at != directory:
            os.close(at)


def _identity(stat: os.stat_result) -> tuple[int, ...]:
    """Return what tells a file from another and from itself before a change."""
    return (stat.st_dev, stat.st_ino, stat.st_mode, stat.st_size, stat.st_mtime_ns,
            stat.st_ctime_ns)


def _hashed(file: int, size: int, head_bytes: int) -> tuple[str, bytes]:
    sha256 = hashlib.sha256()
    head = b""
    left = size
    is_at_end = False
    while not is_at_end:
        wanted = min(left + 1, _CHUNK)
        chunk = os.read(file, wanted)
        left -= len(chunk)
        # A short read ends a regular file unless a signal cut it short.
        is_at_end = not chunk or left < 0 or (left == 0 and len(chunk) < wanted)
        sha256.update(chunk)
        if len(head) < head_bytes:
            head += chunk
    if left:
        raise OSError(errno.ESTALE, "grew or shrank while it was read")
    return sha256.hexdigest(), head

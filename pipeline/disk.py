"""The only reader of the roots: finds skill folders, fingerprints them and reads them whole."""

import codecs
import errno
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG, S_IXUSR

from catalog.errors import RootUnreadable
from catalog.record import FileEntry, Finding, Kind
from pipeline.directory import holds_skill_md
from pipeline.findings.registry import finding
from pipeline.names import os_path, text_path
from pipeline.signature import Entry, Folder, Limits
from pipeline.snapshot import Snapshot, digest, kind_of
from pipeline.walk import DEFAULT_LIMITS, Stray, entries, look, unit_of, walk

__all__ = [
    "DEFAULT_LIMITS", "Folder", "Limits", "Stray", "entries", "is_skill_folder", "look", "os_path",
    "read", "text_path", "unit_of", "walk",
]

_CHUNK = 1024 * 1024
"""Bytes read at once; whether a file is text is judged by the first of them."""

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # a pipe must not hang us

_TICK_NS = 100_000_000
"""Nanoseconds; longer than the 10 ms at most between two time stamps of a Linux system."""

_INCOMPLETE = frozenset({"file-unreadable", "directory-unreadable", "skill-md-not-a-file"})


def read(root: Path, folder: Folder, limits: Limits = DEFAULT_LIMITS) -> Snapshot | None:
    """Read and hash the files of a folder; None if it is no longer as the walk saw it.

    Of a folder that exceeds a limit SKILL.md alone is read, so that its rejection has a name.
    """
    try:
        top = os.path.abspath(root)
        snapshot = _read(top, folder, limits)
        return snapshot if _is_as_seen(top, folder, limits) else None
    except (OSError, RootUnreadable):
        # Vanished or exchanged meanwhile, or a trouble of the system's that may pass.
        return None


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
    top = f"{root}/{os_path(folder.path)}"
    for path, stat in _worth_reading(folder, limits):
        try:
            sha256, head = _read_file(f"{top}/{os_path(path)}", stat, head_bytes)
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


def _is_as_seen(root: str, folder: Folder, limits: Limits) -> bool:
    """Say whether the walk would note the same again.

    Whatever comes or goes changes its directory's time stamp, so the stats tell it, at a
    tenth of the price of another look. Only of what changed a moment ago they do not: a second
    change in the same tick of the system's clock leaves no mark.
    """
    if abs(time.time_ns() - folder.changed_ns) < _TICK_NS:
        now = look(Path(root), folder.path, limits)
        return now is not None and now.fingerprint == folder.fingerprint
    top = f"{root}/{os_path(folder.path)}"
    return all(
        _identity(os.stat(f"{top}/{os_path(path)}")) == _identity(stat)
        for path, stat in (*folder.directories, *folder.entries)
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


def _read_file(path: str, expected: os.stat_result, head_bytes: int) -> tuple[str, bytes]:
    """Return the SHA-256 of a file and its first bytes, read in one pass.

    Only the very inode that the walk saw inside the root is read, whatever the path leads to by
    now. PermissionError if it must not be read, OSError if it is not as it was seen.
    """
    file = os.open(path, _FILE)
    try:
        found = os.fstat(file)
        if not S_ISREG(found.st_mode) or _identity(found) != _identity(expected):
            raise OSError(errno.ESTALE, "changed since it was seen", path)
        return _hashed(file, expected.st_size, head_bytes)
    finally:
        os.close(file)


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

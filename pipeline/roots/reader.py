"""Reader of skill folders on disk and in archives: one folder, and its snapshot."""

import errno
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from stat import S_IXUSR

from catalog.model.errors import RootUnreadable
from catalog.model.paths import archive_of, os_path
from catalog.model.skill import FileEntry
from catalog.model.values import FileKind
from pipeline.roots import secrets, text_files
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.archives.refusal import is_refused, refused_at
from pipeline.roots.local.files import identity, is_text, open_expected
from pipeline.roots.local.folder import Folder, Limits, unreadable_now
from pipeline.roots.local.root_directory import RootDirectory, held_open
from pipeline.roots.local.tree_walk import Archive
from pipeline.roots.local.walk import (
    DEFAULT_LIMITS,
    archive_at,
    look_at,
)
from pipeline.roots.snapshot import Snapshot, digest, head_bytes, kind_of

_CHUNK = 1024 * 1024  # bytes read at once

TICK_NS = 100_000_000
"""Nanoseconds; longer than the 10 ms at most between two time stamps of a Linux system."""


def look(root: Path | RootDirectory, path: str, limits: Limits = DEFAULT_LIMITS) -> Folder | None:
    """Return the skill folder at a path as it is now; None if there is none.

    Raises RootUnreadable if the root, or a directory on the way to the path, cannot be listed.
    """
    if not archive_of(path):
        return look_at(root, path, limits)
    archive = archive_at(root, path, limits)
    if archive is None:
        return None
    try:
        folders = _folders_in(archive)
    except OSError as error:
        raise RootUnreadable(
            f"{path} in the root {archive.root}: {error.strerror or error}."
        ) from error
    if is_refused(folders[0]):
        return refused_at(folders[0], [path])[0]
    return next((folder for folder in folders if folder.path == path), None)


@lru_cache(maxsize=2)  # a deleted archive is asked for each of its skills
def _folders_in(archive: Archive) -> list[Folder]:
    with open_archive(archive) as folders:
        return folders


def read(
    root: Path | RootDirectory, folder: Folder, limits: Limits = DEFAULT_LIMITS
) -> Snapshot | None:
    """Read and hash the files of a folder; None if it has changed since the walk.

    If the folder exceeds a limit, only SKILL.md is read, so that its rejection has a name.
    """
    try:
        with held_open(root) as opened_root, readable(opened_root, folder, limits) as current:
            snapshot = _read(opened_root, current, limits)
            return snapshot if _is_unchanged(opened_root, current, limits) else None
    except (OSError, RootUnreadable):
        # It vanished or was exchanged meanwhile, or the system has a temporary problem.
        return None


def can_list(root: Path) -> bool:
    """Whether a root exists and can be listed."""
    try:
        os.scandir(root).close()
    except OSError:
        return False
    return True


def is_skill_folder(path: Path) -> bool:
    """Whether a directory directly holds SKILL.md in any spelling."""
    try:
        with held_open(path) as directory:
            return directory.holds_skill_md("")
    except RootUnreadable:
        return False


@contextmanager
def readable(root: RootDirectory, folder: Folder, limits: Limits) -> Iterator[Folder]:
    """Yield the folder with readable files; its archive is opened again if necessary. OSError."""
    if folder.source is None or folder.source.is_open:
        yield folder
        return
    archive = archive_at(root, folder.path, limits)
    if archive is None:
        raise FileNotFoundError(errno.ENOENT, "vanished", folder.path)
    with open_archive(archive) as folders:
        yield next((present for present in folders if present == folder), folder)


def _read(root: RootDirectory, folder: Folder, limits: Limits) -> Snapshot:
    """Read a folder; OSError if it has changed since the walk."""
    name = folder.skill_md_name
    skill_md: bytes | None = None
    files: list[FileEntry] = []
    problems = list(folder.problems)
    found: list[secrets.Secret] = []
    most = head_bytes(limits.skill_md_bytes, limits.text_bytes)
    top = f"/{os_path(folder.path)}"
    for path, stat in folder.files_to_read(limits):
        try:
            if folder.source:
                chunks = folder.source.chunks(f"{folder.path}/{path}")
            else:
                chunks = _chunks(root, f"{top}/{os_path(path)}", stat)
            sha256, head = _hashed(chunks, most)
        except OSError as error:
            problems.append(unreadable_now(path, error))
            continue
        if path == name:
            skill_md = head
        text_bytes = 0 if path == name else limits.text_bytes
        file = _file_entry(path, stat, sha256, head, kind_of(path, name), text_bytes)
        files.append(file)
        if secret := secrets.in_file(path, head, is_text=file.is_text):
            found.append(secret)
        if stands_in := text_files.pointer(path, head):
            problems.append(stands_in)
    return Snapshot(
        path=folder.path,
        skill_md_name=None if skill_md is None else name,
        skill_md=skill_md or b"",
        files=tuple(files),
        fingerprint=folder.fingerprint,
        digest=digest(files) if folder.is_whole(problems) else None,
        problems=tuple(problems),
        left_out=folder.left_out,
        secrets=tuple(found),
    )


def _is_unchanged(root: RootDirectory, folder: Folder, limits: Limits) -> bool:
    """Whether another walk would see the same folder.

    Every new or removed file changes its directory's time stamp, so comparing stats suffices, in
    a tenth of the time of another walk. The exception is a folder that changed a moment ago: a
    second change in the same tick of the system's clock leaves no trace, so it is walked again.
    """
    if folder.source:
        return folder.source.is_unchanged
    root.forget()
    if abs(time.time_ns() - folder.changed_ns) < TICK_NS:
        current = look(root, folder.path, limits)
        is_same = current is not None and current.fingerprint == folder.fingerprint
        return is_same and root.is_in_place()
    top = f"/{os_path(folder.path)}"
    return root.is_in_place() and all(
        identity(root.stat_behind_links(f"{top}/{os_path(path)}" if path else top))
        == identity(stat)
        for path, stat in (*folder.directories, *folder.entries)
    )


def _file_entry(
    path: str, stat: os.stat_result, sha256: str, head: bytes, kind: FileKind, text_bytes: int
) -> FileEntry:
    text = is_text(head, whole=len(head) == stat.st_size)
    return FileEntry(
        path=path,
        size=stat.st_size,
        sha256=sha256,
        # The other permission bits depend on the umask of the program that wrote the file.
        mode=0o755 if stat.st_mode & S_IXUSR else 0o644,
        kind=kind,
        is_text=text,
        text=head.decode("utf-8-sig") if text and stat.st_size <= text_bytes else None,
    )


def _chunks(root: RootDirectory, path: str, expected: os.stat_result) -> Iterator[bytes]:
    """Yield the bytes of a file.

    PermissionError if it may not be read, OSError if it has changed since the walk.
    """
    file = open_expected(root, path, expected)
    try:
        yield from _all_bytes(file, expected.st_size)
    finally:
        os.close(file)


def _all_bytes(file: int, size: int) -> Iterator[bytes]:
    left = size
    is_at_end = False
    while not is_at_end:
        count = min(left + 1, _CHUNK)
        chunk = os.read(file, count)
        left -= len(chunk)
        # A short read means the end of a regular file, unless a signal interrupted it.
        is_at_end = not chunk or left < 0 or (left == 0 and len(chunk) < count)
        yield chunk
    if left:
        raise OSError(errno.ESTALE, "grew or shrank while it was read")


def _hashed(chunks: Iterable[bytes], most: int) -> tuple[str, bytes]:
    """Return the SHA-256 of a file and its first bytes, read in one pass."""
    sha256 = hashlib.sha256()
    head = b""
    for chunk in chunks:
        sha256.update(chunk)
        if len(head) < most:
            head += chunk
    return sha256.hexdigest(), head

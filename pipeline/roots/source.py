"""Source of skills: a root that is open for reading, with its skill folders and archives."""

import codecs
import errno
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from stat import S_ISLNK, S_IXUSR
from types import MappingProxyType
from typing import Any

from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import os_path
from catalog.model.skill import FileEntry, FolderStats
from pipeline.roots import file_kinds, secrets
from pipeline.roots.archives import reader as archives
from pipeline.roots.local import walk
from pipeline.roots.local.folder import (
    Archive,
    Folder,
    Limits,
    LooseFinding,
    Result,
    StatCache,
    unreadable_now,
)
from pipeline.roots.local.root_directory import RootDirectory, identity, opened_root
from pipeline.roots.snapshot import Snapshot, digest, kind_of
from pipeline.roots.words import Words, found

DEFAULT_LIMITS = Limits()
_CHUNK = 1024 * 1024  # bytes read at once; the first ones decide whether a file is text
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@contextmanager
def open_source(
    root: str | os.PathLike[str],
    limits: Limits = DEFAULT_LIMITS,
    fingerprints: Mapping[str, str] = _NOTHING,
    stats: Mapping[str, FolderStats] = _NOTHING,
) -> Iterator["Source"]:
    """Open a root by its configured path, with results of earlier walks. Raises RootUnreadable."""
    with opened_root(os.fspath(root)) as opened:
        yield Source(opened, limits, StatCache(opened, limits, fingerprints, stats))


def can_list(root: str) -> bool:
    """Whether a root exists and can be listed."""
    try:
        with opened_root(root) as opened:
            opened.check()
    except RootUnreadable:
        return False
    return True


def is_skill_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a directory directly contains SKILL.md in any spelling."""
    try:
        with opened_root(os.fspath(path)) as directory:
            return bool(directory.listing("").skill_mds)
    except (OSError, RootUnreadable):
        return False


class Source:
    """Root that is open for reading, by one thread. All paths are relative to it.

    walk, at, folder and archive raise RootUnreadable if the root cannot be listed.
    """

    def __init__(self, root: RootDirectory, limits: Limits, cache: StatCache) -> None:
        self._root = root
        self._limits = limits
        self._cache = cache

    def is_in_place(self) -> bool:
        """Whether the configured path of the root still leads to this root."""
        return self._root.is_in_place()

    def walk(self, path: str = "", *, enters_skills: bool = True) -> Iterator[Result]:
        """Yield every skill folder, archive and loose finding at or below a path.

        See `pipeline.roots.local.walk`.
        """
        return walk.walk(self._root, path, self._limits, self._cache, enters_skills=enters_skills)

    def at(self, path: str) -> Result | None:
        """Return the folder, the archive or the loose finding at a path; None without one.

        A path into an archive stands for the archive. If a directory on the way cannot be read,
        the finding about it is returned.
        """
        first = next(walk.walk(self._root, path, self._limits), None)
        return first if first and f"{path}/".startswith(f"{first.path}/") else None

    def folder(self, path: str) -> Folder | None:
        """Return the skill folder at a path, on disk or in an archive; None if there is none.

        Raises RootUnreadable also if a directory on the way, or the archive, cannot be read.
        """
        found = self._readable(path)
        if not isinstance(found, Archive):
            return found if isinstance(found, Folder) else None
        try:
            folders = archives.known_at(_folders_in(found), [path])
        except OSError as error:
            raise RootUnreadable(
                f"{path} in the root {found.root}: {error.strerror or error}."
            ) from error
        return next((folder for folder in folders if folder.path == path), None)

    def archive(self, path: str) -> Archive | None:
        """Return the archive that a path leads into; None if it has vanished.

        Raises RootUnreadable also if a directory on the way cannot be read.
        """
        found = self._readable(path)
        return found if isinstance(found, Archive) else None

    def _readable(self, path: str) -> Result | None:
        found = self.at(path)
        if isinstance(found, LooseFinding) and found.path != path:  # a directory on the way
            raise RootUnreadable(
                f"{found.path} in the root {self._root.path}: {found.finding.message}"
            )
        return found

    def stats_of(self, folder: Folder, before_ns: int) -> FolderStats | None:
        """Return the stats with which later walks compare a folder; None if they do not suffice.

        before_ns is a time before the walk that found it, in ns since the epoch.
        """
        return self._cache.stats_of(folder, before_ns)

    def open_file(self, path: str) -> int:
        """Return the descriptor of a regular file, which the caller closes; OSError."""
        return self._root.followed(self._root.file, f"/{os_path(path)}")

    def read(self, folder: Folder) -> Snapshot | None:
        """Read and hash the files of a folder; None if it has changed since the walk.

        One in an archive is read while the archive is open. If the folder exceeds a limit, only
        SKILL.md is read, so that its rejection has a name.
        """
        try:
            snapshot = self._read(folder)
            return snapshot if self._is_unchanged(folder) else None
        except (OSError, RootUnreadable):
            # It vanished or was exchanged meanwhile, or the system has a temporary problem.
            return None

    def _read(self, folder: Folder) -> Snapshot:
        """Read a folder; OSError if it has changed since the walk."""
        limits, name = self._limits, folder.skill_md_name
        skill_md: bytes | None = None
        files: list[FileEntry] = []
        problems: list[Finding] = list(folder.problems)
        secret_files: list[secrets.SecretFile] = []
        words: dict[str, Words] = {}
        large: dict[str, str] = {}
        most = max(_CHUNK, limits.skill_md_bytes, limits.text_bytes)
        for path, stat in folder.files_to_read(limits):
            try:
                sha256, head = _hashed(self._chunks(folder, path, stat), most)
            except OSError as error:
                problems.append(unreadable_now(path, error))
                continue
            if path == name:
                skill_md = head
            text = _text(head, is_whole=len(head) == stat.st_size)
            # The other permission bits depend on the umask of the program that wrote the file.
            mode = 0o755 if stat.st_mode & S_IXUSR else 0o644
            kind, size = kind_of(path, name), stat.st_size
            stored = text if path != name and size <= limits.text_bytes else None
            files.append(FileEntry(path, size, sha256, mode, kind, text is not None, stored))
            if text is not None and stored is None and len(head) == size:
                large[path] = text
            words[path] = Words() if text is None else found(head.removeprefix(codecs.BOM_UTF8))
            if secret := secrets.in_file(path, text, words[path]):
                secret_files.append(secret)
            if stands_in := file_kinds.pointer(path, head):
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
            secrets=tuple(secret_files),
            words=words,
            large=large,
        )

    def _chunks(self, folder: Folder, path: str, expected: os.stat_result) -> Iterator[bytes]:
        """Yield the bytes of a file.

        PermissionError if it may not be read, OSError if it has changed since the walk.
        """
        if folder.content:
            yield from folder.content.chunks(f"{folder.path}/{path}")
            return
        file = self._root.followed(self._root.file, _place(folder, path), expected)
        try:
            left, is_at_end = expected.st_size, False
            while not is_at_end:
                wanted = min(left + 1, _CHUNK)
                chunk = os.read(file, wanted)
                left -= len(chunk)
                is_at_end = not chunk or left < 0 or (left == 0 and len(chunk) < wanted)
                yield chunk
        finally:
            os.close(file)
        if left:
            raise OSError(errno.ESTALE, "grew or shrank while it was read")

    def _is_unchanged(self, folder: Folder) -> bool:
        """Whether another walk would see the same folder.

        Every new or removed file changes its directory's time stamp, so comparing stats suffices,
        in a tenth of the time of another walk, unless the folder changed within the same tick of
        the clock before; scans wait until it is quiet.
        """
        if folder.content:
            return folder.content.is_unchanged
        seen = (*folder.directories, *folder.entries)
        inner = [f"/{os_path(path)}" if path else "" for path, _ in seen]
        now = self._root.followed(self._root.stats, _place(folder, ""), inner)
        return self.is_in_place() and all(
            identity(self._target(folder, path) if S_ISLNK(present.st_mode) else present)
            == identity(stat)
            for present, (path, stat) in zip(now, seen, strict=True)
        )

    def _target(self, folder: Folder, path: str) -> os.stat_result:
        """Return the stat of the target of a link; OSError."""
        return self._root.stat(self._root.resolved(_place(folder, path)))


def _place(folder: Folder, path: str) -> str:
    """Return the path of an entry of a folder below its root."""
    return f"/{os_path(f'{folder.path}/{path}'.removesuffix('/'))}"


@lru_cache(maxsize=2)  # a deleted archive is asked for each of its skills
def _folders_in(archive: Archive) -> list[Folder]:
    with archives.open_archive(archive) as folders:
        return folders


def _hashed(chunks: Iterable[bytes], most: int) -> tuple[str, bytes]:
    """Return the SHA-256 of a file and its first bytes, read in one pass."""
    sha256 = hashlib.sha256()
    head = b""
    for chunk in chunks:
        sha256.update(chunk)
        if len(head) < most:
            head += chunk
    return sha256.hexdigest(), head


def _text(head: bytes, *, is_whole: bool) -> str | None:
    """Return the first bytes of a file as text; None unless they are UTF-8 without NUL.

    It has no byte order mark. If the bytes are not the whole file, the last character may be cut.
    """
    if b"\0" in head:
        return None
    try:
        return codecs.utf_8_decode(head, "strict", is_whole)[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None

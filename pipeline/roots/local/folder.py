"""Skill folder as a walk finds it, and the stats by which a later walk finds it unchanged."""

import hashlib
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import ClassVar, Protocol, TypeAlias

from pydantic import ByteSize, Field
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.finding import Finding
from catalog.model.paths import os_path
from catalog.model.setting import A_SIZE, STRICT, Size
from catalog.model.skill import FolderStats, LeftOutFile
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    FILE_UNREADABLE,
    FOLDER_TOO_DEEP,
    FOLDER_TOO_LARGE,
    IGNORE_FILE_REFUSED,
    INTERNAL_ERROR,
    READ_FAILED,
    SKILL_MD_NOT_A_FILE,
    SKILL_MD_TOO_LARGE,
    TOO_MANY_FILES,
)
from pipeline.roots.file_kinds import SKILL_MD, is_skill_md
from pipeline.roots.ignore_files import IgnoreFile
from pipeline.roots.local.directory import Directory
from pipeline.roots.local.mounts import network_type
from pipeline.roots.local.root_directory import IO_ERRORS, RootDirectory

Entry: TypeAlias = tuple[str, os.stat_result]
"""Path relative to the skill folder, and its stat; for a link, that of its target."""


LIMIT_CODES = frozenset(
    kind.code
    for kind in (
        TOO_MANY_FILES,
        FOLDER_TOO_LARGE,
        FOLDER_TOO_DEEP,
        SKILL_MD_TOO_LARGE,
    )
)

_INCOMPLETE = frozenset(
    kind.code
    for kind in (
        FILE_UNREADABLE,
        DIRECTORY_UNREADABLE,
        READ_FAILED,
        SKILL_MD_NOT_A_FILE,
        IGNORE_FILE_REFUSED,
    )
)


@settings_table(frozen=True, slots=True, config=STRICT)
class Limits:
    """Limits of a skill folder, which is rejected if it exceeds them: the table `[limits]`.

    A folder may have as many directories as files. `depth` counts directories below the root, and
    the members of an archive also those of all its skills together; its bytes are limited packed
    and unpacked. The text of files above `text_bytes` is not stored.
    """

    files: int = Field(default=2000, gt=0, description="a whole number of files above 0")
    bytes: Size = Field(default=ByteSize(100 * 2**20), gt=0, description=A_SIZE)
    depth: int = Field(default=32, gt=0, description="a whole number of nested folders above 0")
    skill_md_bytes: Size = Field(default=ByteSize(2**20), gt=0, description=A_SIZE)
    text_bytes: Size = Field(
        default=ByteSize(2**16), ge=0, description='a number of bytes or a size such as "64 KiB"'
    )
    archive_members: int = Field(
        default=20_000, gt=0, description="a whole number of files above 0"
    )
    archive_bytes: Size = Field(default=ByteSize(512 * 2**20), gt=0, description=A_SIZE)

    ignores_folders: ClassVar[bool] = True
    """Whether ignore files outside of skill folders count."""


class Content(Protocol):
    """Bytes of a folder's files in an archive."""

    @property
    def is_unchanged(self) -> bool:
        """Whether it is unchanged since the folder was found in it; OSError."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, whose path is relative to the root; OSError."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Skill folder as seen by a walk: names and stats, no contents."""

    path: str  # relative to the root
    entries: tuple[Entry, ...]  # regular files by path; incomplete if a limit is exceeded
    directories: tuple[Entry, ...]  # the listed ones; the folder itself is ""
    problems: tuple[Finding, ...]
    fingerprint: str
    changed_ns: int  # the newest ctime of its files and directories, in ns since the epoch
    is_alias: bool = False  # reached through a link to a directory, or to an archive
    left_out: tuple[LeftOutFile, ...] = ()  # sorted by path
    around: tuple[IgnoreFile, ...] | None = None  # above it; None if links or findings count, too
    content: Content | None = field(default=None, compare=False, repr=False)

    @property
    def skill_md_name(self) -> str | None:
        """Name of the SKILL.md to read; the right spelling is preferred."""
        names = [path for path, _ in self.entries if is_skill_md(path)]
        return SKILL_MD if SKILL_MD in names else next(iter(names), None)

    @property
    def exceeds_limits(self) -> bool:
        """Whether the folder is too large for its files to be read."""
        return any(problem.code in LIMIT_CODES for problem in self.problems)

    def files_to_read(self, limits: Limits) -> Iterator[Entry]:
        """Yield the files to read; of a folder that exceeds a limit, only a small SKILL.md."""
        name, too_large = self.skill_md_name, self.exceeds_limits
        for entry in self.entries:
            path, stat = entry
            if stat.st_size <= limits.skill_md_bytes if path == name else not too_large:
                yield entry

    def is_whole(self, problems: Iterable[Finding]) -> bool:
        """Whether all files could be read, given the problems of reading them."""
        return (
            bool(self.entries)
            and not self.exceeds_limits
            and (_INCOMPLETE.isdisjoint(p.code for p in problems))
        )


@dataclass(frozen=True, slots=True)
class SameFolder:
    """Skill folder that has not changed since the walk that filled the stat cache."""

    path: str  # relative to the root


@dataclass(frozen=True, slots=True)
class UnenteredFolder:
    """Skill folder whose entries, and any skill folders below it, the walk left to another one."""

    path: str  # relative to the root


@dataclass(frozen=True, slots=True)
class Archive:
    """Archive file, seen by a walk but not opened yet."""

    path: str  # of its top, relative to the root: `group/x.zip!`
    root: str  # absolute
    file: str  # path below the root, without links: see RootDirectory
    stat: os.stat_result = field(compare=False)  # for a link, that of its target
    limits: Limits
    fingerprint: str  # changes with the file and with the limits
    is_alias: bool  # reached through a link
    ignore_files: tuple[IgnoreFile, ...] = ()  # those that apply to it, nearest first

    @property
    def changed_ns(self) -> int:
        """Its ctime, in ns since the epoch."""
        return self.stat.st_ctime_ns


@dataclass(frozen=True, slots=True)
class LooseFinding:
    """Finding in a root about something that belongs to no skill."""

    path: str  # relative to the root
    finding: Finding


Result: TypeAlias = Folder | SameFolder | UnenteredFolder | Archive | LooseFinding
"""Result of a walk."""

UNLISTED = frozenset(
    kind.code for kind in (DIRECTORY_UNREADABLE, READ_FAILED, IGNORE_FILE_REFUSED, INTERNAL_ERROR)
)
"""Codes of the findings about directories whose contents are unknown."""


def failure(problems: Iterable[Finding]) -> str | None:
    """Return a clause about the first read error of the system, if there is one."""
    for problem in problems:
        if problem.code == READ_FAILED.code:
            clause = f"{problem.message[0].lower()}{problem.message[1:]}"
            return f"{problem.path or 'the folder'}: {clause}"
    return None


def unreadable(path: str, error: OSError) -> Finding:
    """Return the finding about a file that cannot be read."""
    if error.errno in IO_ERRORS:
        return READ_FAILED.at(f"Reading it failed: {error.strerror}.", path=path)
    return FILE_UNREADABLE.at(f"It cannot be read: {error.strerror}.", path=path)


def unreadable_now(path: str, error: OSError) -> Finding:
    """Return the finding about a file that the walk saw; raise the error if it has changed."""
    if not (isinstance(error, PermissionError) or error.errno in IO_ERRORS):
        raise error
    return unreadable(path, error)


MARGIN_NS = 3_000_000_000
"""Age in ns from which a change is sure to differ in time from a later one, on all file systems."""

_FORMAT = "qQqqQ"
_values = attrgetter("st_size", "st_mode", "st_mtime_ns", "st_ctime_ns", "st_ino")


class StatCache:
    """Stats of the skill folders of a root from earlier walks, and those for later ones.

    A directory that gains, loses or renames an entry gets a new time stamp, as a file does that
    changes. So a folder is the same if the stats of all its directories and files are. Folders with
    links or findings are not cached, as their content depends on more.
    """

    def __init__(
        self,
        root: RootDirectory,
        limits: Limits,
        fingerprints: Mapping[str, str],
        stats: Mapping[str, FolderStats],
    ) -> None:
        """Take the open root, and the results of earlier walks by path."""
        self._root = root
        self._limits = str(limits)
        self._fingerprints = fingerprints
        self._stats = stats

    def is_same(self, here: Directory) -> bool:
        """Whether a directory is an unchanged skill folder outside of other skills."""
        known = self._stats.get(here.text)
        if known is None:
            return False
        fingerprint = self._fingerprints[here.text]
        try:
            stats = self._root.stats(here.path, known.paths.split("\n"))
        except (OSError, ValueError):
            return False
        return bool(fingerprint) and known.digest == self._digest(fingerprint, here.around, stats)

    def stats_of(self, folder: Folder, before_ns: int) -> FolderStats | None:
        """Return the stats with which later walks compare a folder; None if they do not suffice.

        before_ns is a time before the walk that found the folder, in ns since the epoch.
        """
        if folder.around is None or folder.changed_ns > before_ns - MARGIN_NS:
            return None
        device = self._root.stat("").st_dev
        if not self._has_exact_times or any(s.st_dev != device for _, s in folder.directories):
            return None
        entries = (*folder.directories, *folder.entries)
        stats = [stat for _, stat in entries]
        digest = self._digest(folder.fingerprint, folder.around, stats)
        paths = "\n".join(f"/{os_path(path)}" if path else "" for path, _ in entries)
        is_readable = digest and paths.count("\n") == len(entries) - 1
        return FolderStats(paths, digest) if is_readable else None

    @cached_property
    def _has_exact_times(self) -> bool:
        """Whether time stamps tell of every change; a file server may have another clock."""
        return sys.platform == "linux" and network_type(self._root.path) is None

    def _digest(
        self, fingerprint: str, around: Sequence[IgnoreFile], stats: Sequence[os.stat_result]
    ) -> str:
        """Return a digest of all that decides on a folder; "" if a value of a stat is too large."""
        values = chain.from_iterable(map(_values, stats))
        try:
            packed = struct.pack(_FORMAT * len(stats), *values)
        except struct.error:
            return ""
        rest = f"{fingerprint}{self._limits}{around or ''}"
        return hashlib.blake2b(packed + rest.encode(), digest_size=16).hexdigest()

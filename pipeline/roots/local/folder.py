"""Summary of one skill folder from a walk: names, stats and problems."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from stat import S_ISDIR, S_ISREG
from typing import Literal, NamedTuple, Protocol, TypeAlias

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import is_utf8, os_path, text_path
from catalog.text import humanize
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    FILE_UNREADABLE,
    FOLDER_TOO_DEEP,
    FOLDER_TOO_LARGE,
    HARD_LINK_REFUSED,
    HARD_LINKED_FILE,
    LINK_DANGLING,
    LINK_LEAVES_ROOT,
    LINK_LOOP,
    NAME_NOT_UTF8,
    READ_FAILED,
    SKILL_MD_NOT_A_FILE,
    SKILL_MD_OTHER_CASE,
    SKILL_MD_TOO_LARGE,
    SKILL_MD_TWICE,
    SPECIAL_FILE,
    TOO_MANY_FILES,
)
from pipeline.roots.local.root_directory import IO_ERRORS
from pipeline.roots.names import SKILL_MD, is_skill_md
from pipeline.roots.snapshot import fingerprint

Entry: TypeAlias = tuple[str, os.stat_result]
"""A path relative to the skill folder, and its stat; of a link, its target's."""


class Target(NamedTuple):
    """A regular file or a directory that a link leads to."""

    stat: os.stat_result
    path: str  # in its tree, without links


Targets: TypeAlias = Mapping[str, Target | FindingType]
"""Where names that are neither files nor directories lead, or the type of a finding."""

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
        HARD_LINK_REFUSED,
    )
)

_NOT_A_FILE = {
    SPECIAL_FILE: "a pipe, a socket or a device",
    LINK_LEAVES_ROOT: "a link out of the root",
    LINK_DANGLING: "a link to nothing that can be reached",
    LINK_LOOP: "a link to itself or to a directory that holds it",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a skill folder may hold; one that exceeds a limit is rejected without reading it."""

    files: int = 2_000  # as many directories are allowed, too
    bytes: int = 100 * 1024 * 1024
    depth: int = 32  # directories below the root
    skill_md_bytes: int = 1024 * 1024
    text_bytes: int = 65_536  # larger text files are accepted, but stored without their text
    archive_members: int = 20_000  # files, links and directories; all its skills together, too
    archive_bytes: int = 512 * 1024 * 1024  # as the file is, and unpacked
    hard_links: Literal["report", "reject"] = "report"  # of files with a name outside the folder


class FileSource(Protocol):
    """Source of the bytes of a folder's files, if they are not in a directory on disk."""

    @property
    def is_open(self) -> bool:
        """Whether it can still be read."""

    @property
    def is_as_seen(self) -> bool:
        """Whether it is what it was when the folder was found in it; OSError."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, whose path is relative to the root; OSError."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A skill folder as a walk saw it: names and stats, no bytes."""

    path: str  # relative to the root
    entries: tuple[Entry, ...]  # regular files by path; incomplete where a limit is exceeded
    directories: tuple[Entry, ...]  # those listed; the folder itself is ""
    problems: tuple[Finding, ...]
    fingerprint: str
    changed_ns: int  # the newest ctime of its files and directories, in ns since the epoch
    is_alias: bool = False  # reached through a link to a directory, or to an archive
    source: FileSource | None = field(default=None, compare=False, repr=False)

    @property
    def skill_md_name(self) -> str | None:
        """The name of the SKILL.md to read: the right spelling before any other."""
        names = [path for path, _ in self.entries if is_skill_md(path)]
        return SKILL_MD if SKILL_MD in names else next(iter(names), None)

    @property
    def exceeds_limits(self) -> bool:
        """Whether the folder is so large that its files are not to be read."""
        return any(problem.code in LIMIT_CODES for problem in self.problems)

    def worth_reading(self, limits: Limits) -> Iterator[Entry]:
        """Yield the files to read: of a folder that exceeds a limit a small SKILL.md alone.

        None of a folder that is refused for its hard links.
        """
        if any(problem.code == HARD_LINK_REFUSED.code for problem in self.problems):
            return
        name, too_large = self.skill_md_name, self.exceeds_limits
        for entry in self.entries:
            path, stat = entry
            if stat.st_size <= limits.skill_md_bytes if path == name else not too_large:
                yield entry

    def is_whole(self, problems: Iterable[Finding]) -> bool:
        """Say whether all its files could be read, given all problems met while doing so."""
        return (
            bool(self.entries)
            and not self.exceeds_limits
            and (_INCOMPLETE.isdisjoint(p.code for p in problems))
        )


class FolderBuilder:
    """A Folder in the making. All paths come in relative to the root and go out to the folder."""

    def __init__(self, path: str, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._entries: list[Entry] = []
        self._problems: list[Finding] = []
        self._listed: list[Entry] = []
        self._files = 0
        self._directories = 0
        self._changed_ns = 0
        self._hard_links: dict[tuple[int, int], set[str]] = {}  # names of an inode, in the tree
        self._hard_linked: list[tuple[str, os.stat_result]] = []

    @property
    def room(self) -> int:
        """How many more files may be noted."""
        return 0 if self.is_full else self._limits.files - len(self._entries)

    @property
    def is_full(self) -> bool:
        """Whether there are too many files or directories, so that no more need be looked at."""
        return self._files > self._limits.files or self._directories > self._limits.files

    def add_directory(self, path: str, stat: os.stat_result, files: int) -> None:
        """Note a directory and how many files, links and special files it directly holds."""
        self._listed.append((path[len(self._path) + 1 :], stat))
        self._directories += 1
        self._files += files
        self._changed_ns = max(self._changed_ns, stat.st_ctime_ns)
        self._check_name(path)

    def add_unlisted(self, path: str, problem: Finding) -> None:
        """Note a directory that was not listed; one that is too deep speaks for all such."""
        self._directories += 1
        if problem.code != FOLDER_TOO_DEEP.code or problem.code not in {
            known.code for known in self._problems
        }:
            self._report(problem._replace(path=self._inner(path)))

    def add(self, path: str, stat: os.stat_result) -> None:
        """Note a regular file that belongs to the skill."""
        self._entries.append((path[len(self._path) + 1 :], stat))
        self._changed_ns = max(self._changed_ns, stat.st_ctime_ns)
        self._check_name(path)

    def add_hard_link(self, path: str, stat: os.stat_result, real_path: str) -> None:
        """Note a file that has more than one name, and where in the tree this one lies."""
        self._hard_links.setdefault((stat.st_dev, stat.st_ino), set()).add(real_path)
        self._hard_linked.append((path[len(self._path) + 1 :], stat))

    def report(
        self, kind: FindingType, path: str | None = None, message: str | None = None
    ) -> None:
        """Note a problem of something in the folder, or of the folder where path is None."""
        self._report(kind.at(message, path=None if path is None else self._inner(path)))

    def report_unreadable(self, path: str, error: OSError) -> None:
        """Note a file of which the system tells nothing."""
        self._report(unreadable(self._inner(path) or "", error))

    def add_targets(self, directory: str, targets: Targets) -> None:
        """Note the files that links lead to, and the links that lead to nothing we may read."""
        for name, target in targets.items():
            path = f"{directory}/{text_path(name)}"
            if isinstance(target, FindingType):
                if directory != self._path or not is_skill_md(name):
                    self.report(target, path)
            elif S_ISREG(target.stat.st_mode):
                self.add(path, target.stat)
                if target.stat.st_nlink > 1:
                    self.add_hard_link(path, target.stat, target.path)

    def add_skill_mds(
        self, names: Collection[str], directories: Collection[str], targets: Targets
    ) -> None:
        """Note what is wrong with SKILL.md apart from its content, given all its spellings."""
        if len(names) > 1:
            self.report(SKILL_MD_TWICE, message=f"The folder holds {' and '.join(names)}.")
        elif SKILL_MD not in names:
            for name in names:
                self.report(
                    SKILL_MD_OTHER_CASE,
                    f"{self._path}/{name}",
                    f"{name} is not spelled {SKILL_MD}.",
                )
        for name in names:
            if what := _no_file(name in directories, targets.get(name)):
                self.report(
                    SKILL_MD_NOT_A_FILE,
                    f"{self._path}/{name}",
                    f"{name} is {what} instead of a regular file.",
                )

    def folder(self) -> Folder:
        """Sum up."""
        entries = tuple(sorted(self._entries))
        self._check_limits(entries)
        self._check_hard_links()
        problems = tuple(sorted(self._problems, key=lambda p: (p.path or "", p.code)))
        return Folder(
            self._path,
            entries,
            tuple(self._listed),
            problems,
            fingerprint(entries, problems),
            self._changed_ns,
        )

    def _report(self, problem: Finding) -> None:
        # Of a folder without number one problem is enough: that it is rejected for it.
        if not self.is_full:
            self._problems.append(problem)

    def _inner(self, path: str) -> str | None:
        return path[len(self._path) + 1 :] or None

    def _check_name(self, path: str) -> None:
        if "\\" in path and not is_utf8(os_path(path.rpartition("/")[2])):
            self.report(NAME_NOT_UTF8, path)

    def _check_hard_links(self) -> None:
        """Report files that have a name outside the folder; one finding speaks of all."""
        elsewhere = sorted(
            (path, stat.st_nlink)
            for path, stat in self._hard_linked
            if len(self._hard_links[stat.st_dev, stat.st_ino]) < stat.st_nlink
        )
        if elsewhere:
            path, names = elsewhere[0]
            more = (
                f" So have {humanize.count(len(elsewhere) - 1, 'other file')}."
                if elsewhere[1:]
                else ""
            )
            self._report(
                hard_link(
                    self._limits,
                    path,
                    (
                        f"{path} is one file with {names:,} names, some of them outside the "
                        f"skill's folder.{more}"
                    ),
                )
            )

    def _check_limits(self, entries: tuple[Entry, ...]) -> None:
        limits = self._limits
        if self.is_full:
            self._problems.append(
                TOO_MANY_FILES.at(
                    f"The folder holds {humanize.count(self._files, 'file')} in "
                    f"{humanize.count(self._directories, 'directory', 'directories')}; "
                    f"the limit is {limits.files:,} of each.",
                )
            )
        size = sum([stat.st_size for _, stat in entries])
        if size > limits.bytes:
            self._problems.append(
                FOLDER_TOO_LARGE.at(
                    f"The files add up to {size:,} bytes; the limit is {limits.bytes:,}.",
                )
            )
        for path, stat in entries:
            if is_skill_md(path) and stat.st_size > limits.skill_md_bytes:
                self._problems.append(
                    SKILL_MD_TOO_LARGE.at(
                        f"{path} has {stat.st_size:,} bytes; "
                        f"the limit is {limits.skill_md_bytes:,}.",
                        path=path,
                    )
                )


def failure(problems: Iterable[Finding]) -> str | None:
    """Return in a sentence what could not be read for an error of the system, if anything."""
    for problem in problems:
        if problem.code == READ_FAILED.code:
            what = f"{problem.message[0].lower()}{problem.message[1:]}"
            return f"{problem.path or 'the folder'}: {what}"
    return None


def hard_link(limits: Limits, path: str | None, message: str) -> Finding:
    """Return the finding about a file with a name elsewhere, as the settings have it."""
    kind = HARD_LINK_REFUSED if limits.hard_links == "reject" else HARD_LINKED_FILE
    return kind.at(message, path=path)


def unreadable(path: str, error: OSError) -> Finding:
    """Return the finding about a file that must not, or could not, be read."""
    if error.errno in IO_ERRORS:
        return READ_FAILED.at(f"Reading it failed: {error.strerror}.", path=path)
    return FILE_UNREADABLE.at(f"It cannot be read: {error.strerror}.", path=path)


def _no_file(is_directory: bool, target: Target | FindingType | None) -> str | None:
    """Return what a name is that does not lead to a regular file."""
    if isinstance(target, FindingType):
        return _NOT_A_FILE[target]
    is_directory = is_directory or (target is not None and S_ISDIR(target.stat.st_mode))
    return "a directory" if is_directory else None

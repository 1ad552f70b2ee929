"""Builder of a skill folder: its entries, and findings about their names, links and number."""

import os
from collections.abc import Collection
from stat import S_ISDIR, S_ISREG

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import is_utf8, os_path, text_path
from catalog.model.skill import LeftOutFile
from catalog.text import humanize
from catalog.text.visible import quoted
from pipeline.roots.codes import (
    FOLDER_TOO_DEEP,
    FOLDER_TOO_LARGE,
    LINK_DANGLING,
    LINK_LEAVES_ROOT,
    LINK_LOOP,
    NAME_NOT_UTF8,
    SKILL_MD_NOT_A_FILE,
    SKILL_MD_OTHER_CASE,
    SKILL_MD_TOO_LARGE,
    SKILL_MD_TWICE,
    SPECIAL_FILE,
    TOO_MANY_FILES,
)
from pipeline.roots.local.directory import Listing
from pipeline.roots.local.folder import (
    Entry,
    Folder,
    Limits,
    Target,
    Targets,
    hard_link,
    unreadable,
)
from pipeline.roots.names import SKILL_MD, is_skill_md, why_junk
from pipeline.roots.snapshot import fingerprint

_NOT_A_FILE = {
    SPECIAL_FILE: "a pipe, a socket or a device",
    LINK_LEAVES_ROOT: "a link out of the root",
    LINK_DANGLING: "a link to nothing that can be reached",
    LINK_LOOP: "a link to itself or to a directory that holds it",
}


class FolderBuilder:
    """Builder of a Folder. It takes paths relative to the root; the Folder has its own."""

    def __init__(self, path: str, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._entries: list[Entry] = []
        self._problems: list[Finding] = []
        self._listed: list[Entry] = []
        self._files = 0
        self._directories = 0
        self._changed_ns = 0
        self._hard_links: dict[tuple[int, int], set[str]] = {}  # paths of an inode in the tree
        self._hard_linked: list[tuple[str, os.stat_result]] = []
        self._left_out: list[LeftOutFile] = []
        self.has_links = False

    @property
    def room(self) -> int:
        """Number of files that may still be added."""
        return 0 if self.is_full else self._limits.files - len(self._entries)

    @property
    def is_full(self) -> bool:
        """Whether there are too many files or directories, so that the rest can be skipped."""
        return self._files > self._limits.files or self._directories > self._limits.files

    def add_directory(self, path: str, stat: os.stat_result, files: int) -> None:
        """Add a directory and the number of files, links and special files directly in it."""
        self._listed.append((path[len(self._path) + 1 :], stat))
        self._directories += 1
        self._files += files
        self._changed_ns = max(self._changed_ns, stat.st_ctime_ns)
        self._check_name(path)

    def add_unlisted(self, path: str, problem: Finding) -> None:
        """Add a directory that was not listed; only the first that is too deep is reported."""
        self._directories += 1
        if problem.code != FOLDER_TOO_DEEP.code or problem.code not in {
            reported.code for reported in self._problems
        }:
            self._report(problem._replace(path=self._inner(path)))

    def add(self, path: str, stat: os.stat_result) -> None:
        """Add a regular file of the skill."""
        self._entries.append((path[len(self._path) + 1 :], stat))
        self._changed_ns = max(self._changed_ns, stat.st_ctime_ns)
        self._check_name(path)

    def leave_out(self, directory: str, listing: Listing) -> None:
        """Add the entries of a directory that are part of no version."""
        inner = f"{directory[len(self._path) + 1 :]}/".lstrip("/")
        for name in listing.junk:
            detail = why_junk(name.rstrip("/"))
            self._left_out.append(LeftOutFile(f"{inner}{text_path(name)}", "name", detail))
        for name, decision in listing.ignored.items():
            detail = f"{decision.file.path} has the pattern {quoted(decision.pattern)}"
            self._left_out.append(LeftOutFile(f"{inner}{text_path(name)}", "ignore file", detail))

    def add_hard_link(self, path: str, stat: os.stat_result, real_path: str) -> None:
        """Add a file with more than one hard link; real_path is this one, without links."""
        self._hard_links.setdefault((stat.st_dev, stat.st_ino), set()).add(real_path)
        self._hard_linked.append((path[len(self._path) + 1 :], stat))

    def report(
        self, kind: FindingType, path: str | None = None, message: str | None = None
    ) -> None:
        """Add a problem of an entry, or of the folder itself if path is None."""
        self._report(kind.at(message, path=None if path is None else self._inner(path)))

    def report_unreadable(self, path: str, error: OSError) -> None:
        """Add a problem of a file whose stat fails."""
        self._report(unreadable(self._inner(path) or "", error))

    def add_targets(self, directory: str, targets: Targets) -> None:
        """Add the files that links lead to, and the problems of links that lead to none."""
        self.has_links = self.has_links or bool(targets)
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
        """Add the problems of SKILL.md's name and type, given all its spellings."""
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
            if wrong_type := _wrong_type(name in directories, targets.get(name)):
                self.report(
                    SKILL_MD_NOT_A_FILE,
                    f"{self._path}/{name}",
                    f"{name} is {wrong_type} instead of a regular file.",
                )

    def folder(self) -> Folder:
        """Return the finished folder."""
        entries = tuple(sorted(self._entries))
        self._check_limits(entries)
        self._check_hard_links()
        problems = tuple(sorted(self._problems, key=lambda p: (p.path or "", p.code)))
        left_out = tuple(sorted(self._left_out)[: self._limits.files])
        return Folder(
            self._path,
            entries,
            tuple(self._listed),
            problems,
            fingerprint(entries, problems, left_out),
            self._changed_ns,
            left_out=left_out,
        )

    def _report(self, problem: Finding) -> None:
        # A folder with too many files needs only the problem for which it is rejected.
        if not self.is_full:
            self._problems.append(problem)

    def _inner(self, path: str) -> str | None:
        return path[len(self._path) + 1 :] or None

    def _check_name(self, path: str) -> None:
        if "\\" in path and not is_utf8(os_path(path.rpartition("/")[2])):
            self.report(NAME_NOT_UTF8, path)

    def _check_hard_links(self) -> None:
        """Report files with a hard link outside the folder, all in one finding."""
        elsewhere = sorted(
            (path, stat.st_nlink)
            for path, stat in self._hard_linked
            if len(self._hard_links[stat.st_dev, stat.st_ino]) < stat.st_nlink
        )
        if elsewhere:
            path, names = elsewhere[0]
            others = humanize.count(len(elsewhere) - 1, "other file")
            more = f" The same holds for {others}." if elsewhere[1:] else ""
            self._report(
                hard_link(
                    self._limits,
                    path,
                    f"{path} is a file with {names:,} hard links, some of them outside the "
                    f"skill's folder.{more}",
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
                    f"The files have {size:,} bytes in total; the limit is {limits.bytes:,}.",
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


def _wrong_type(is_directory: bool, target: Target | FindingType | None) -> str | None:
    """Return the type of a name that does not lead to a regular file; None if it does."""
    if isinstance(target, FindingType):
        return _NOT_A_FILE[target]
    is_directory = is_directory or (target is not None and S_ISDIR(target.stat.st_mode))
    return "a directory" if is_directory else None

"""Builder of a skill folder: its entries, and findings about their names, links and number."""

import os
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
from pipeline.roots.file_kinds import SKILL_MD, is_skill_md, why_junk
from pipeline.roots.local.directory import Directory, Listing, Target, Targets, Tree
from pipeline.roots.local.folder import Entry, Folder, Limits, unreadable
from pipeline.roots.snapshot import fingerprint

_NOT_A_FILE = {
    SPECIAL_FILE: "a pipe, a socket or a device",
    LINK_LEAVES_ROOT: "a link out of the root",
    LINK_DANGLING: "a link to nothing that can be reached",
    LINK_LOOP: "a link to itself or to a directory that contains it",
}


class FolderBuilder:
    """Builder of the Folder at a directory of a walk."""

    def __init__(self, top: Directory, limits: Limits, tree: Tree) -> None:
        self._top = top
        self._limits = limits
        self._tree = tree
        self._entries: list[Entry] = []
        self._problems: list[Finding] = []
        self._listed: list[Entry] = []
        self._files = 0
        self._directories = 0
        self._left_out: list[LeftOutFile] = []
        self._has_links = False

    @property
    def is_full(self) -> bool:
        """Whether there are too many files or directories, so that the rest can be skipped."""
        return self._files > self._limits.files or self._directories > self._limits.files

    def add(self, here: Directory, listing: Listing) -> bool:
        """Add a directory and its files; return whether it still exists.

        If there are too many, only SKILL.md is added.
        """
        try:
            stat = self._tree.stat(here.path)
        except OSError:
            return False
        inner = self._inner(here)
        self._listed.append((inner, stat))
        self._directories += 1
        self._files += len(listing.files) + len(listing.others)
        self._check_name(here.text, inner)
        before = f"{inner}/" if inner else ""
        self._leave_out(before, listing)
        for name in filter(is_skill_md, listing.files) if self.is_full else listing.files:
            self._add_file(f"{here.path}/{name}", f"{before}{text_path(name)}")
        return True

    def add_others(self, here: Directory, listing: Listing, targets: Targets) -> None:
        """Add the files that links lead to, and the problems of links that lead to none."""
        self._has_links = self._has_links or bool(targets)
        for name, target in targets.items():
            if isinstance(target, Target):
                if S_ISREG(target.stat.st_mode):
                    self._add_entry(self._inner(here, name), target.stat)
            elif here is not self._top or not is_skill_md(name):
                self._report(target.at(path=self._inner(here, name)))
        if here is self._top:
            self._check_skill_mds(listing, targets)

    def add_problem(self, here: Directory, problem: Finding) -> None:
        """Add a directory that is not listed; only the first that is too deep is reported."""
        self._directories += 1
        if problem.code != FOLDER_TOO_DEEP.code or problem.code not in {
            reported.code for reported in self._problems
        }:
            self._report(problem._replace(path=self._inner(here)))

    def folder(self, *, is_alone: bool) -> Folder:
        """Return the finished folder; `is_alone` tells whether it has no skill inside."""
        top = self._top
        entries = tuple(sorted(self._entries))
        self._check_limits(entries)
        problems = tuple(sorted(self._problems, key=lambda p: (p.path or "", p.code)))
        left_out = tuple(sorted(self._left_out)[: self._limits.files])
        is_plain = is_alone and not (problems or top.in_skill or top.links or self._has_links)
        # Behind a link, the files and their stats are those of the link's target.
        suffix = "-alias" if top.links else ""
        return Folder(
            top.text,
            entries,
            tuple(self._listed),
            problems,
            f"{fingerprint(entries, problems, left_out)}{suffix}",
            max((stat.st_ctime_ns for _, stat in (*self._listed, *entries)), default=0),
            is_alias=bool(top.links),
            left_out=left_out,
            around=top.around if is_plain else None,
        )

    def _add_file(self, place: str, path: str) -> None:
        """Add a file of the skill, by its place in the tree and its path in the skill."""
        try:
            stat = self._tree.stat(place)
        except FileNotFoundError:
            return
        except OSError as error:
            self._report(unreadable(path, error))
        else:
            self._add_entry(path, stat)

    def _add_entry(self, path: str, stat: os.stat_result) -> None:
        """Add a regular file of the skill."""
        self._entries.append((path, stat))
        self._check_name(path, path)

    def _leave_out(self, before: str, listing: Listing) -> None:
        """Add the entries of a directory that are part of no version, with the path before them."""
        for name in listing.junk:
            detail = why_junk(name.rstrip("/"))
            self._left_out.append(LeftOutFile(f"{before}{text_path(name)}", "name", detail))
        for name, decision in listing.ignored.items():
            detail = f"{decision.file.path} has the pattern {quoted(decision.pattern)}"
            self._left_out.append(LeftOutFile(f"{before}{text_path(name)}", "ignore file", detail))

    def _report(self, problem: Finding) -> None:
        # A folder with too many files needs only the problem for which it is rejected.
        if not self.is_full:
            self._problems.append(problem)

    def _inner(self, here: Directory, name: str = "") -> str:
        """Return the path of a directory or an entry in it, relative to the folder."""
        text = here.text_of(name) if name else here.text
        return text[len(self._top.text) + 1 :]

    def _check_name(self, text: str, path: str) -> None:
        if "\\" in text and not is_utf8(os_path(text.rpartition("/")[2])):
            self._report(NAME_NOT_UTF8.at(path=path or None))

    def _check_skill_mds(self, listing: Listing, targets: Targets) -> None:
        """Report the problems of SKILL.md's name and type, given all its spellings."""
        names = listing.skill_mds
        if len(names) > 1:
            self._report(SKILL_MD_TWICE.at(f"The folder contains {' and '.join(names)}."))
        elif SKILL_MD not in names:
            for name in names:
                message = f"{name} is not spelled {SKILL_MD}."
                self._report(SKILL_MD_OTHER_CASE.at(message, path=name))
        for name in names:
            if wrong_type := _wrong_type(name in listing.directories, targets.get(name)):
                message = f"{name} is {wrong_type} instead of a regular file."
                self._report(SKILL_MD_NOT_A_FILE.at(message, path=name))

    def _check_limits(self, entries: tuple[Entry, ...]) -> None:
        limits = self._limits
        if self.is_full:
            self._problems.append(
                TOO_MANY_FILES.at(
                    f"The folder contains {humanize.count(self._files, 'file')} in "
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

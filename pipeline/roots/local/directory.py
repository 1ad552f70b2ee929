"""One directory of a walk, with its direct entries."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple, Protocol, TypeAlias

from catalog.model.finding import FindingType
from catalog.model.paths import text_path
from pipeline.roots.file_kinds import is_junk, is_skill_md
from pipeline.roots.ignore_files import DecidingPattern, IgnoreFile, decide
from pipeline.roots.snapshot import DATA_FOLDERS


class Target(NamedTuple):
    """Regular file or directory that a link leads to."""

    stat: os.stat_result
    path: str  # in its tree, without links


Targets: TypeAlias = Mapping[str, Target | FindingType]
"""Targets of names that are neither files nor directories, or types of findings."""


@dataclass(slots=True)
class Directory:
    """Directory of a walk, and its properties that follow from the way to it."""

    path: str  # in its tree, as a path of the system, without links
    text: str = ""  # relative to the root
    depth: int = 0  # directories below the root
    links: int = 0  # directory links on the way
    in_skill: bool = False  # a directory above it is a skill folder
    is_data: bool = False  # it lies in a data folder of a skill
    is_skill: bool = False
    above: "Directory | None" = None
    around: tuple[IgnoreFile, ...] = ()  # those in directories above it, nearest first
    ignore_files: tuple[IgnoreFile, ...] = ()  # those, and its own
    is_outside: bool | None = None  # whether it has a finding as a folder that is no skill

    def child(self, name: str, target: Target | FindingType | None = None) -> "Directory":
        """Return the directory of this name in it, or the target of the link of this name."""
        is_link = isinstance(target, Target)
        return Directory(
            target.path if isinstance(target, Target) else f"{self.path}/{name}",
            self.text_of(name),
            self.depth + 1,
            self.links + is_link,
            self.in_skill or self.is_skill,
            self.is_data or (self.is_skill and name in DATA_FOLDERS),
            above=self,
            around=self.ignore_files,
        )

    def text_of(self, name: str) -> str:
        """Return the path of an entry, relative to the root."""
        text = text_path(name)
        return f"{self.text}/{text}" if self.text else text

    def ignoring(self, name: str, *, is_directory: bool = False) -> DecidingPattern | None:
        """Return the pattern by which an entry is ignored; None if it is not.

        A folder cannot ignore its own SKILL.md.
        """
        files: Iterable[IgnoreFile] = self.ignore_files
        if is_skill_md(name):
            files = self.around
        path = self.text_of(name)
        decision = decide(files, f"{path}/" if is_directory else path)
        return decision if decision and decision.is_ignored else None

    def leads_back(self, target: Target | FindingType) -> bool:
        """Whether a target is a directory through which the way to this one leads."""
        if not isinstance(target, Target) or not S_ISDIR(target.stat.st_mode):
            return False
        here: Directory | None = self
        while here:
            if f"{here.path}/".startswith(f"{target.path}/"):
                return True
            here = here.above
        return False

    def judge(self, listing: "Listing") -> bool:
        """Set and return is_skill, from the entries of the directory.

        A directory behind two links is no skill folder, so that skills that link to one another
        do not multiply.
        """
        self.is_skill = (
            bool(listing.skill_mds and self.text) and not self.is_data and self.links < 2
        )
        return self.is_skill

    def children(self, listing: "Listing", others: Targets) -> Iterator["Directory"]:
        """Yield the directories to enter from here, sorted by name.

        A directory named SKILL.md is not among them. Outside a skill, only the first link to a
        directory on the way is entered: directories full of links to one another would otherwise
        be walked in every order. Inside a skill, its limits prevent that.
        """
        names = listing.directories
        if listing.skill_mds and not self.is_data:
            names = [name for name in names if not is_skill_md(name)]
        if not self.links or self.in_skill or self.is_skill:
            names = names + [
                name
                for name, target in others.items()
                if isinstance(target, Target)
                and S_ISDIR(target.stat.st_mode)
                and (self.is_data or not is_skill_md(name))
            ]
        return (self.child(name, others.get(name)) for name in sorted(names))


@dataclass(slots=True)
class Listing:
    """Entries of a directory except junk, in the order of the file system."""

    directories: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # links, pipes, sockets, devices
    skill_mds: list[str] = field(default_factory=list)  # all names of this kind
    junk: list[str] = field(default_factory=list)  # directories end with "/"
    ignored: dict[str, DecidingPattern] = field(default_factory=dict)  # directories end with "/"

    def add(self, name: str, mode: int) -> None:
        """Add an entry by its name and its type, as in a stat."""
        if is_junk(name):
            self.junk.append(f"{name}/" if S_ISDIR(mode) else name)
            return
        if is_skill_md(name):
            self.skill_mds.append(name)
        if S_ISREG(mode):
            self.files.append(name)
        elif S_ISDIR(mode):
            self.directories.append(name)
        else:
            self.others.append(name)

    def leave_out(self, here: Directory) -> None:
        """Remove the ignored entries of a directory."""
        if here.ignore_files:
            self.directories = self._kept(here, self.directories, "/")
            self.others = self._kept(here, self.others)
            self.files = self._kept(here, self.files)
            self.skill_mds = [name for name in self.skill_mds if name not in self.ignored]
        self.skill_mds.sort()

    def _kept(self, here: Directory, names: list[str], end: str = "") -> list[str]:
        kept = []
        for name in names:
            if decision := here.ignoring(name, is_directory=bool(end)):
                self.ignored[f"{name}{end}"] = decision
            else:
                kept.append(name)
        return kept


class Tree(Protocol):
    """Directories that a walk can read: those below a root, or those in an archive."""

    def listing(self, path: str) -> Listing:
        """List a directory; OSError."""

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a file or directory; OSError."""

    def head(self, path: str, most: int) -> bytes:
        """Return the first bytes of a regular file, at most `most`; OSError."""

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of names that are neither files nor directories. Raises OSError."""

"""One directory of a walk, with its direct entries."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from stat import S_ISDIR
from typing import Protocol

from catalog.model.finding import FindingType
from catalog.model.paths import is_archive, text_path
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.ignore_files import Decision, IgnoreFile, decide
from pipeline.roots.local import links
from pipeline.roots.local.files import head_inside
from pipeline.roots.local.folder import Target, Targets
from pipeline.roots.local.root_directory import RootDirectory, listing_error
from pipeline.roots.names import SKILL_MD, is_junk, is_skill_md
from pipeline.roots.snapshot import DATA_FOLDERS


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
    left: tuple[str, ...] = ()  # directories that the way left through a link
    is_covered: bool = False  # a finding about a directory above it tells of it, too
    ignore_files: tuple[IgnoreFile, ...] = ()  # those that apply to its entries, nearest first

    def child(self, name: str, target: Target | FindingType | None = None) -> "Directory":
        """Return the directory of this name in it, or the target of the link of this name."""
        text = text_path(name)
        is_link = isinstance(target, Target)
        return Directory(
            target.path if isinstance(target, Target) else f"{self.path}/{name}",
            f"{self.text}/{text}" if self.text else text,
            self.depth + 1,
            self.links + is_link,
            self.in_skill or self.is_skill,
            self.is_data or (self.is_skill and name in DATA_FOLDERS),
            left=(*self.left, self.path) if is_link else self.left,
            is_covered=self.is_covered,
            ignore_files=self.ignore_files,
        )

    def ignoring(self, name: str, *, is_directory: bool = False) -> Decision | None:
        """Return the pattern by which an entry is ignored; None if it is not.

        A folder cannot ignore its own SKILL.md, without which nobody could say what it is.
        """
        if not self.ignore_files:
            return None
        files: Iterable[IgnoreFile] = self.ignore_files
        if is_skill_md(name):
            files = (file for file in files if file.folder != self.text)
        path = f"{self.text}/{text_path(name)}" if self.text else text_path(name)
        decision = decide(files, f"{path}/" if is_directory else path)
        return decision if decision and decision.is_ignored else None

    def lies_in(self, path: str) -> bool:
        """Whether the way to it leads through a directory of its tree, or ends there."""
        return any(f"{passed}/".startswith(f"{path}/") for passed in (self.path, *self.left))

    def pass_through(self, name: str, root: RootDirectory) -> None:
        """Set is_skill, on the way to a name in it, without listing the directory if possible.

        The answer decides whether folders below are skills only if the name is a data folder's.
        """
        holds = root.holds_skill_md if name in DATA_FOLDERS else root.holds_common_skill_md
        self.is_skill = (
            bool(self.text)
            and not self.is_data
            and holds(self.path)
            and not self.ignoring(SKILL_MD)
        )

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

        A directory named SKILL.md is not among them.
        """
        names = listing.directories
        if listing.skill_mds and not self.is_data:
            names = [name for name in names if not is_skill_md(name)]
        if not others:
            return map(self.child, sorted(names))
        linked = self.linked(others)
        return (self.child(name, others.get(name)) for name in sorted([*names, *linked]))

    def linked(self, others: Targets) -> frozenset[str]:
        """Return the links to directories to enter; outside a skill, only the first on the way.

        Directories full of links to one another would otherwise be walked in every order. Inside
        a skill, its limits prevent that.
        """
        if self.links and not (self.in_skill or self.is_skill):
            return frozenset()
        return frozenset(
            name
            for name, target in others.items()
            if isinstance(target, Target)
            and S_ISDIR(target.stat.st_mode)
            and (self.is_data or not is_skill_md(name))
        )


@dataclass(slots=True)
class Listing:
    """Entries of a directory except junk, in the order of the file system."""

    directories: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # up to the number asked for
    file_count: int = 0
    others: list[str] = field(default_factory=list)  # links, pipes, sockets, devices
    skill_mds: list[str] = field(default_factory=list)  # all names of this kind, sorted
    junk: list[str] = field(default_factory=list)
    ignored: dict[str, Decision] = field(default_factory=dict)  # directories end with "/"

    def leave_out(self, here: Directory, files: int) -> None:
        """Remove the ignored entries of a directory, and keep at most `files` files."""
        self.directories = self._kept(here, self.directories, "/")
        self.others = self._kept(here, self.others)
        kept = self._kept(here, self.files)
        self.file_count -= len(self.files) - len(kept)
        always = [name for name in kept if is_skill_md(name) or is_archive(name)]
        self.files = [*kept[:files], *(name for name in always if name not in kept[:files])]
        self.skill_mds = [name for name in self.skill_mds if name not in self.ignored]

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

    def listing(self, path: str, files: int) -> Listing:
        """List a directory, with at most `files` files; OSError.

        Every SKILL.md and every ignore file is listed, too.
        """

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a directory; OSError."""

    def head(self, path: str, most: int) -> bytes:
        """Return the first bytes of a regular file, at most `most`; OSError."""

    def stats(self, path: str) -> Callable[[str], os.stat_result]:
        """Return a function from file names to stats, valid until another directory is asked."""

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of names that are neither files nor directories; OSError."""


class DiskTree:
    """Directories below a root on disk."""

    def __init__(self, root: RootDirectory) -> None:
        self._root = root

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a directory; OSError."""
        return os.fstat(self._root.directory(path))

    def stats(self, path: str) -> Callable[[str], os.stat_result]:
        """Return a function from file names to stats, valid until another directory is asked."""
        return partial(os.stat, dir_fd=self._root.directory(path), follow_symlinks=False)

    def listing(self, path: str, files: int) -> Listing:
        """List a directory in one pass, with at most `files` files; OSError.

        Every SKILL.md, ignore file and archive is listed, too.
        """
        listing = Listing()
        directories, kept, others = listing.directories, listing.files, listing.others
        count = 0
        try:
            with os.scandir(self._root.directory(path)) as entries:
                for entry in entries:
                    name = entry.name
                    if is_junk(name):
                        listing.junk.append(f"{name}/" if _is_directory(entry) else name)
                        continue
                    if is_skill_md(name):
                        listing.skill_mds.append(name)
                    if entry.is_file(follow_symlinks=False):
                        count += 1
                        if (
                            count <= files
                            or is_skill_md(name)
                            or is_archive(name)
                            or name in IGNORE_FILES
                        ):
                            kept.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        directories.append(name)
                    else:
                        others.append(name)
        except OSError as error:
            raise listing_error(error) from error
        listing.file_count = count
        listing.skill_mds.sort()
        return listing

    def head(self, path: str, most: int) -> bytes:
        """Return the first bytes of a regular file, at most `most`; OSError."""
        return head_inside(self._root, path, most)

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of names that are neither files nor directories; OSError."""
        return links.targets(self._root, directory, names)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False

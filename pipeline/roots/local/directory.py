"""One directory of a walk, with its direct entries."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from stat import S_ISDIR
from typing import Protocol

from catalog.model.finding import FindingType
from catalog.model.paths import is_archive, text_path
from pipeline.roots.local import links
from pipeline.roots.local.folder import Target, Targets
from pipeline.roots.local.root_directory import RootDirectory, listing_error
from pipeline.roots.names import is_junk, is_skill_md
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
        )

    def lies_in(self, path: str) -> bool:
        """Whether the way to it leads through a directory of its tree, or ends there."""
        return any(f"{passed}/".startswith(f"{path}/") for passed in (self.path, *self.left))

    def pass_through(self, name: str, root: RootDirectory) -> None:
        """Set is_skill, on the way to a name in it, without listing the directory if possible.

        The answer decides whether folders below are skills only if the name is a data folder's.
        """
        holds = root.holds_skill_md if name in DATA_FOLDERS else root.holds_common_skill_md
        self.is_skill = bool(self.text) and not self.is_data and holds(self.path)

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


class Tree(Protocol):
    """Directories that a walk can read: those below a root, or those in an archive."""

    def listing(self, path: str, files: int) -> Listing:
        """List a directory, with at most `files` files besides any SKILL.md; OSError."""

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a directory; OSError."""

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

        Every SKILL.md and every archive is listed, too.
        """
        listing = Listing()
        directories, kept, others = listing.directories, listing.files, listing.others
        count = 0
        try:
            with os.scandir(self._root.directory(path)) as entries:
                for entry in entries:
                    name = entry.name
                    if is_junk(name):
                        continue
                    if is_skill_md(name):
                        listing.skill_mds.append(name)
                    if entry.is_file(follow_symlinks=False):
                        count += 1
                        if count <= files or is_skill_md(name) or is_archive(name):
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

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of names that are neither files nor directories; OSError."""
        return links.targets(self._root, directory, names)

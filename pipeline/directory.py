"""One directory on the way down from a root, and what it directly holds."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from stat import S_ISDIR
from typing import Protocol

from pipeline import links
from pipeline.names import COMMON_SPELLINGS, is_archive, is_junk, is_skill_md, text_path
from pipeline.signature import Targets
from pipeline.snapshot import DATA_FOLDERS


@dataclass(slots=True)
class Directory:
    """A directory and what the way to it says of it."""

    path: str  # in its tree, as the system writes it
    text: str = ""  # relative to the root
    depth: int = 0  # directories below the root
    links: int = 0  # directory links on the way
    in_skill: bool = False  # a directory above it is a skill folder
    is_data: bool = False  # it lies below a data folder of such a one
    is_skill: bool = False

    def child(self, name: str, *, is_link: bool = False) -> "Directory":
        """Return the directory of this name in it."""
        text = text_path(name)
        return Directory(
            f"{self.path}/{name}",
            f"{self.text}/{text}" if self.text else text,
            self.depth + 1,
            self.links + is_link,
            self.in_skill or self.is_skill,
            self.is_data or (self.is_skill and name in DATA_FOLDERS),
        )

    def pass_on_to(self, name: str) -> None:
        """Find out, on the way to a name in it, whether this is a skill folder.

        Only for the name of a data folder can the answer make a difference to what is a skill.
        """
        holds = holds_skill_md if name in DATA_FOLDERS else holds_common_skill_md
        self.is_skill = bool(self.text) and not self.is_data and holds(self.path)

    def judge(self, listed: "Listing") -> bool:
        """Find out from what it holds whether this is a skill folder.

        One behind two links is none, so that skills that link to one another do not multiply.
        """
        self.is_skill = bool(listed.skill_mds and self.text) and not self.is_data and self.links < 2
        return self.is_skill

    def children(self, listed: "Listing", others: Targets) -> Iterator["Directory"]:
        """Yield the directories to enter from here, sorted by name.

        What stands where a SKILL.md should be is none of them.
        """
        names = listed.directories
        if listed.skill_mds and not self.is_data:
            names = [name for name in names if not is_skill_md(name)]
        if not others:
            return map(self.child, sorted(names))
        linked = self.linked(others)
        return (
            self.child(name, is_link=name in linked) for name in sorted([*names, *linked])
        )

    def linked(self, others: Targets) -> frozenset[str]:
        """Return which links lead on to directories; outside a skill only the first link does.

        Directories full of links to one another would else be walked in every order there is.
        Inside a skill its limits see to that.
        """
        if self.links and not (self.in_skill or self.is_skill):
            return frozenset()
        return frozenset(
            name for name, target in others.items()
            if not isinstance(target, str) and S_ISDIR(target.st_mode)
            and (self.is_data or not is_skill_md(name))
        )


class File(Protocol):
    """A regular file in a directory, as `os.DirEntry` has it."""

    @property
    def name(self) -> str:
        """Its name, as the system writes it."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its stat; OSError."""


@dataclass(slots=True)
class Listing:
    """The entries of a directory that are not junk, in the order of the file system."""

    directories: list[str] = field(default_factory=list)
    files: list[File] = field(default_factory=list)  # as many as were asked for
    file_count: int = 0
    others: list[str] = field(default_factory=list)  # links, pipes, sockets, devices
    skill_mds: list[str] = field(default_factory=list)  # names among all of these, sorted


class Tree(Protocol):
    """Directories that can be walked: those below a root, or those in an archive."""

    def listing(self, path: str, files: int) -> Listing:
        """List a directory, keeping at most so many files and any SKILL.md; OSError."""

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a directory; OSError."""

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return where names that are neither files nor directories lead."""


class DiskTree:
    """The directories below a root on disk, with their absolute paths."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.listing = listing
        self.stat = os.stat

    def targets(self, directory: str, names: Iterable[str]) -> Targets:
        """Return where names that are neither files nor directories lead."""
        return links.targets(self._root, directory, names)


def listing(path: str, files: int) -> Listing:
    """List a directory in one pass, keeping at most so many files; OSError.

    Any SKILL.md is kept, and any archive.
    """
    found = Listing()
    directories, kept, others = found.directories, found.files, found.others
    count = 0
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if is_junk(name):
                continue
            if is_skill_md(name):
                found.skill_mds.append(name)
            if entry.is_file(follow_symlinks=False):
                count += 1
                if count <= files or is_skill_md(name) or is_archive(name):
                    kept.append(entry)
            elif entry.is_dir(follow_symlinks=False):
                directories.append(name)
            else:
                others.append(name)
    found.file_count = count
    found.skill_mds.sort()
    return found


def holds_skill_md(path: str) -> bool:
    """Say whether a directory holds SKILL.md in any spelling, at the price of listing it."""
    try:
        return any(map(is_skill_md, os.listdir(path)))
    except OSError:
        return False


def holds_common_skill_md(path: str) -> bool:
    """Say whether a directory holds SKILL.md in a common spelling, at the price of four stats."""
    for name in COMMON_SPELLINGS:
        try:
            os.lstat(f"{path}/{name}")
        except OSError:
            continue
        return True
    return False

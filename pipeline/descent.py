"""The way from a root down through directories that are no skills to those that are."""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from stat import S_ISDIR, S_ISLNK, S_ISREG

from catalog.errors import RootUnreadable
from catalog.record import Finding
from pipeline.directory import Directory, DiskTree, File, Listing, Tree, holds_skill_md
from pipeline.findings.registry import finding
from pipeline.names import is_archive, is_junk, is_skill_md, os_path, text_path
from pipeline.signature import Folder, Limits, Signature, Targets
from pipeline.snapshot import fingerprint

_VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR})
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


@dataclass(frozen=True, slots=True)
class Stray:
    """Something in a root that is part of no skill and yet deserves a word."""

    path: str  # relative to the root
    finding: Finding


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that stands for the skill folders in it; the walk has not opened it."""

    path: str  # of its top, relative to the root: `group/x.zip!`
    file: str  # absolute, as the system writes it
    stat: os.stat_result = field(compare=False)  # of a link, its target's
    limits: Limits
    fingerprint: str  # changes when the file does, or when other limits hold for what is in it
    is_alias: bool  # reached through a link

    @property
    def changed_ns(self) -> int:
        """Its ctime in ns since the epoch."""
        return self.stat.st_ctime_ns


class Descent:
    """One descent, to a path and from there on.

    Every question is answered from the way down alone, never from what was seen before, so
    that a walk over a part agrees with a walk over the whole.
    """

    def __init__(self, root: str, under: str, limits: Limits, tree: Tree | None = None) -> None:
        self._root = root
        self._under = under
        self._limits = limits
        self._tree = tree or DiskTree(root)

    def reach(self) -> Directory | Stray | None:
        """Go down to where to begin; None where a walk from the root would not get to it either."""
        here = Directory(self._root)
        names = os_path(self._under).split("/") if self._under else []
        for depth, name in enumerate(names, 1):
            is_last = depth == len(names)
            if is_junk(name) or name in {"", ".", ".."} or depth > self._limits.depth + is_last:
                return None
            here.pass_on_to(name)
            below = self._step(here, name)
            if not isinstance(below, Directory):
                return below if is_last else None
            here = below
        return here

    def archive(self) -> Archive | Stray | None:
        """Return the archive that a walk from the root would find at the path of its file."""
        parent, _, name = self._under.rpartition("/")
        here = Descent(self._root, parent, self._limits).reach()
        if not isinstance(here, Directory):
            return here
        if here.depth > self._limits.depth or is_junk(os_path(name)) or self.is_inside_skill:
            return None
        try:
            stat = os.lstat(f"{here.path}/{os_path(name)}")
        except OSError as error:
            self._check_root()
            if error.errno in _VANISHED | {errno.ENAMETOOLONG}:
                return None
            return Stray(f"{here.child(os_path(name)).text}!", finding(
                "directory-unreadable", f"It cannot be reached: {error.strerror}."))
        if S_ISLNK(stat.st_mode):
            others = self._tree.targets(here.path, [os_path(name)])
            return next(self._archives(here, [], others), None)
        return self._archive(here, os_path(name), stat) if S_ISREG(stat.st_mode) else None

    @cached_property
    def is_inside_skill(self) -> bool:
        """Whether what was begun with is a skill's, which thus has had its word on strays there."""
        names = os_path(self._under).split("/")
        ways = ["/".join(names[:depth]) for depth in range(1, len(names))]
        return any(holds_skill_md(f"{self._root}/{way}") for way in ways)

    def below(self, start: Directory) -> Iterator[Folder | Archive | Stray]:
        """Yield what is found at and below a directory."""
        way = [iter((start,))]
        while way:
            here = next(way[-1], None)
            if here is None:
                way.pop()
                continue
            listed = self._list(here, self._limits.files)
            if isinstance(listed, Finding):
                yield Stray(here.text, listed)
            elif listed is None:
                continue
            elif here.judge(listed) or here.in_skill:
                folder, nested = self._sum_up(here, listed)
                if here.is_skill:
                    yield folder
                way.append(iter(nested))
            else:
                others = self._tree.targets(here.path, listed.others)
                yield from _strays(here, listed.skill_mds, others)
                yield from self._archives(here, listed.files, others)
                way.append(here.children(listed, others))

    def skill_at(self, here: Directory) -> Folder | None:
        """Return the skill folder that a directory is, if it is one."""
        listed = self._list(here, self._limits.files)
        if not isinstance(listed, Listing) or not here.judge(listed):
            return None
        return self._sum_up(here, listed)[0]

    def _step(self, here: Directory, name: str) -> Directory | Stray | None:
        try:
            mode = os.lstat(f"{here.path}/{name}").st_mode
        except OSError as error:
            self._check_root()
            if error.errno in _VANISHED | {errno.ENAMETOOLONG}:
                return None
            return Stray(here.child(name).text, finding(
                "directory-unreadable", f"It cannot be reached: {error.strerror}."))
        others = self._tree.targets(here.path, [name]) if S_ISLNK(mode) else {}
        if not is_skill_md(name):
            if S_ISDIR(mode):
                return here.child(name)
            if name in here.linked(others):
                return here.child(name, is_link=True)
        return next(_strays(here, [name] if is_skill_md(name) else [], others), None)

    def _check_root(self) -> None:
        """Tell a path that has vanished from a root that has."""
        try:
            os.scandir(self._root).close()
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> RootUnreadable:
        reason = error.strerror or error
        return RootUnreadable(f"The root {text_path(self._root)} cannot be listed: {reason}.")

    def _list(self, here: Directory, files: int) -> Listing | Finding | None:
        """List a directory, or say what is wrong with it; None if it has just vanished."""
        if here.depth > self._limits.depth:
            limit = self._limits.depth
            return finding("folder-too-deep", (
                f"The directory lies more than {limit} directories below the root; "
                "nothing in it is read."
            ))
        try:
            return self._tree.listing(here.path, files)
        except OSError as error:
            if not here.text or error.errno in _EXHAUSTED:
                raise self._unreadable(error) from error
            if error.errno in _VANISHED:
                return None
            return finding(
                "directory-unreadable", f"The directory cannot be listed: {error.strerror}."
            )

    def _archives(
        self, here: Directory, files: Sequence[File], others: Targets
    ) -> Iterator[Archive]:
        """Yield the archives directly in a directory that belongs to no skill."""
        found = {file.name: file for file in files if is_archive(file.name)}
        for name in sorted({*found, *filter(is_archive, others)}):
            target = others.get(name)
            try:
                stat = found[name].stat(follow_symlinks=False) if name in found else target
            except OSError:
                continue
            if isinstance(stat, os.stat_result) and S_ISREG(stat.st_mode):
                yield self._archive(here, name, stat, is_link=name in others)

    def _archive(self, here: Directory, name: str, stat: os.stat_result, *,
                 is_link: bool = False) -> Archive:
        is_alias = is_link or here.links > 0
        return Archive(f"{here.child(name).text}!", f"{here.path}/{name}", stat, self._limits,
                       fingerprint([(f"{self._limits} {is_alias}", stat)]), is_alias)

    def _sum_up(self, top: Directory, listed: Listing) -> tuple[Folder, list[Directory]]:
        """Return the skill folder that `top` is, and the skill folders that lie in it."""
        signature = Signature(top.text, self._limits)
        nested: list[Directory] = []
        way = [self._take(signature, top, listed)]
        while way:
            here = next(way[-1], None)
            if here is None:
                way.pop()
                continue
            below = self._list(here, signature.room)
            if isinstance(below, Finding):
                signature.add_unlisted(here.text, below)
            elif below is None:
                continue
            elif not below.skill_mds or here.is_data:
                way.append(self._take(signature, here, below))
            elif here.links > 1:
                signature.report("link-behind-link", here.text)
            else:
                nested.append(here)
        folder = signature.folder()
        if top.links:  # the files are those of the folder that it leads to, stats and all
            folder = replace(folder, is_alias=True, fingerprint=f"{folder.fingerprint}-alias")
        return folder, nested

    def _take(self, signature: Signature, here: Directory, listed: Listing) -> Iterator[Directory]:
        """Note what lies directly in a directory of a skill; return the directories in it."""
        try:
            stat = self._tree.stat(here.path)
        except OSError:
            return iter(())
        signature.add_directory(here.text, stat, listed.file_count + len(listed.others))
        for entry in listed.files:
            path = f"{here.text}/{text_path(entry.name)}"
            try:
                signature.add(path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue
            except OSError as error:
                signature.report("file-unreadable", path, f"It cannot be read: {error.strerror}.")
        others = {} if signature.is_full else self._tree.targets(here.path, listed.others)
        if here.is_skill:
            signature.add_skill_mds(listed.skill_mds, listed.directories, others)
        signature.add_targets(here.text, others)
        return here.children(listed, others)


def _strays(here: Directory, skill_mds: list[str], others: Targets) -> Iterator[Stray]:
    """Yield what deserves a word directly in a directory that belongs to no skill."""
    for name in sorted({*skill_mds, *others}):
        target = others.get(name)
        if name in skill_mds:
            code = "skill-md-in-root"
        elif isinstance(target, str) and target != "special-file":
            code = target
        elif here.links and not isinstance(target, str) and target and S_ISDIR(target.st_mode):
            code = "link-behind-link"
        else:
            continue
        yield Stray(here.child(name).text, finding(code))

"""The way from a root down through directories that are no skills to those that are."""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from stat import S_ISDIR, S_ISLNK, S_ISREG

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import is_archive, os_path, text_path
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    FOLDER_TOO_DEEP,
    LINK_BEHIND_LINK,
    LINK_LOOP,
    READ_FAILED,
    SKILL_MD_IN_ROOT,
    SPECIAL_FILE,
)
from pipeline.roots.local.directory import Directory, DiskTree, Listing, Tree
from pipeline.roots.local.folder import Folder, FolderBuilder, Limits, Target, Targets
from pipeline.roots.local.root_directory import EXHAUSTED, IO_ERRORS, RootDirectory, unlisted
from pipeline.roots.names import is_junk, is_skill_md
from pipeline.roots.snapshot import fingerprint

_VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@dataclass(frozen=True, slots=True)
class LooseFinding:
    """Something in a root that is part of no skill and yet deserves a word."""

    path: str  # relative to the root
    finding: Finding


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that stands for the skill folders in it; the walk has not opened it."""

    path: str  # of its top, relative to the root: `group/x.zip!`
    root: str  # absolute
    file: str  # below the root, without links: see RootDirectory
    stat: os.stat_result = field(compare=False)  # of a link, its target's
    limits: Limits
    fingerprint: str  # changes when the file does, or when other limits hold for what is in it
    is_alias: bool  # reached through a link

    @property
    def changed_ns(self) -> int:
        """Its ctime in ns since the epoch."""
        return self.stat.st_ctime_ns


class Descent:
    """The way from a root to a path, and where a walk begins there.

    Every question is answered from the way down alone, never from what was seen before, so
    that a walk over a part agrees with a walk over the whole.
    """

    def __init__(self, root: RootDirectory, under: str, limits: Limits) -> None:
        self._root = root
        self._under = under
        self._limits = limits
        self.walk = TreeWalk(DiskTree(root), limits, root.path)

    def reach(self) -> Directory | LooseFinding | None:
        """Go down to where to begin; None where a walk from the root would not get to it either."""
        here = Directory("")
        names = os_path(self._under).split("/") if self._under else []
        for depth, name in enumerate(names, 1):
            is_last = depth == len(names)
            if is_junk(name) or name in {"", ".", ".."} or depth > self._limits.depth + is_last:
                return None
            here.pass_on_to(name, self._root)
            below = self._step(here, name)
            if not isinstance(below, Directory):
                return below if is_last else None
            here = below
        return here

    def archive(self) -> Archive | LooseFinding | None:
        """Return the archive that a walk from the root would find at the path of its file."""
        parent, _, name = self._under.rpartition("/")
        here = Descent(self._root, parent, self._limits).reach()
        if not isinstance(here, Directory):
            return here
        if here.depth > self._limits.depth or is_junk(os_path(name)) or self.is_inside_skill:
            return None
        stat = self._stat(here, os_path(name), "!")
        if not isinstance(stat, os.stat_result):
            return stat
        if S_ISLNK(stat.st_mode):
            others = self.walk.targets(here, [os_path(name)])
            return next(self.walk.archives(here, [], others), None)
        return self.walk.archive(here, os_path(name), stat) if S_ISREG(stat.st_mode) else None

    @cached_property
    def is_inside_skill(self) -> bool:
        """Whether what was begun with is a skill's, which thus has had its word on strays there."""
        names = os_path(self._under).split("/")
        ways = ["".join(f"/{name}" for name in names[:depth]) for depth in range(1, len(names))]
        return any(map(self._is_skill, ways))

    def _is_skill(self, path: str) -> bool:
        try:
            real = self._root.real_path(path)
        except OSError:
            return False
        return real is not None and self._root.holds_skill_md(real)

    def _step(self, here: Directory, name: str) -> Directory | LooseFinding | None:
        stat = self._stat(here, name)
        if not isinstance(stat, os.stat_result):
            return stat
        others = self.walk.targets(here, [name]) if S_ISLNK(stat.st_mode) else {}
        if not is_skill_md(name):
            if S_ISDIR(stat.st_mode):
                return here.child(name)
            if name in here.linked(others):
                return here.child(name, others[name])
        return next(_strays(here, [name] if is_skill_md(name) else [], others), None)

    def _stat(
        self, here: Directory, name: str, end: str = ""
    ) -> os.stat_result | LooseFinding | None:
        """Return the stat of a name, or why there is none; None where it has vanished."""
        try:
            return self._root.stat(f"{here.path}/{name}")
        except OSError as error:
            self._check_root()
            if error.errno in EXHAUSTED:
                raise unlisted(self._root.path, error) from error
            if error.errno in _VANISHED | {errno.ENAMETOOLONG}:
                return None
            return self._unlisted_on_the_way(here) or LooseFinding(
                f"{here.child(name).text}{end}", _unlisted(error)
            )

    def _unlisted_on_the_way(self, here: Directory) -> LooseFinding | None:
        """Return what a walk from the root says of a directory through which it does not get."""
        try:
            self._root.names(here.path)
        except OSError as error:
            return LooseFinding(here.text, _unlisted(error)) if here.text else None
        return None

    def _check_root(self) -> None:
        """Tell a path that has vanished from a root that has."""
        try:
            os.scandir(self._root.path).close()
        except OSError as error:
            raise unlisted(self._root.path, error) from error


class TreeWalk:
    """A walk through a tree of directories, on disk or in an archive."""

    def __init__(self, tree: Tree, limits: Limits, root: str = "") -> None:
        self._tree = tree
        self._limits = limits
        self._root = root

    def below(self, start: Directory) -> Iterator[Folder | Archive | LooseFinding]:
        """Yield what is found at and below a directory."""
        way = [iter((start,))]
        while way:
            here = next(way[-1], None)
            if here is None:
                way.pop()
                continue
            listed = self._list(here, self._limits.files)
            if isinstance(listed, Finding):
                yield LooseFinding(here.text, listed)
            elif listed is None:
                continue
            elif here.judge(listed) or here.in_skill:
                folder, nested = self._sum_up(here, listed)
                if here.is_skill:
                    yield folder
                way.append(iter(nested))
            else:
                others = self.targets(here, listed.others)
                yield from _strays(here, listed.skill_mds, others)
                yield from self.archives(here, listed.files, others)
                way.append(here.children(listed, others))

    def skill_at(self, here: Directory) -> Folder | None:
        """Return the skill folder that a directory is, if it is one."""
        listed = self._list(here, self._limits.files)
        if not isinstance(listed, Listing) or not here.judge(listed):
            return None
        return self._sum_up(here, listed)[0]

    def targets(self, here: Directory, names: Sequence[str]) -> Targets:
        """Return where names lead that are neither files nor directories, but for those of loops.

        Raises RootUnreadable where the system does not tell.
        """
        if not names:
            return {}
        try:
            found = self._tree.targets(here.path, names)
        except OSError as error:
            raise unlisted(self._root, error) from error
        return {
            name: LINK_LOOP if _leads_back(here, target) else target
            for name, target in found.items()
        }

    def archives(self, here: Directory, files: Sequence[str], others: Targets) -> Iterator[Archive]:
        """Yield the archives directly in a directory that belongs to no skill."""
        for name in sorted(filter(is_archive, {*files, *others})):
            target = others.get(name)
            if isinstance(target, Target) and S_ISREG(target.stat.st_mode):
                yield self.archive(here, name, target.stat, target)
            elif target is None:
                try:
                    stat = self._tree.stats(here.path)(name)
                except OSError:
                    continue
                if S_ISREG(stat.st_mode):
                    yield self.archive(here, name, stat)

    def archive(
        self, here: Directory, name: str, stat: os.stat_result, target: Target | None = None
    ) -> Archive:
        """Return an archive by its name and stat, or by that to which a link of the name leads."""
        is_alias = target is not None or here.links > 0
        file = target.path if target else f"{here.path}/{name}"
        return Archive(
            f"{here.child(name).text}!",
            self._root,
            file,
            stat,
            self._limits,
            fingerprint([(f"{self._limits} {is_alias}", stat)]),
            is_alias,
        )

    def _list(self, here: Directory, files: int) -> Listing | Finding | None:
        """List a directory, or say what is wrong with it; None if it has just vanished."""
        if here.depth > self._limits.depth:
            limit = self._limits.depth
            return FOLDER_TOO_DEEP.at(
                (
                    f"The directory lies more than {limit} directories below the root; "
                    "nothing in it is read."
                ),
            )
        try:
            return self._tree.listing(here.path, files)
        except OSError as error:
            if not here.text or error.errno in EXHAUSTED:
                raise unlisted(self._root, error) from error
            if error.errno in _VANISHED:
                return None
            return _unlisted(error)

    def _sum_up(self, top: Directory, listed: Listing) -> tuple[Folder, list[Directory]]:
        """Return the skill folder that `top` is, and the skill folders that lie in it."""
        signature = FolderBuilder(top.text, self._limits)
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
                signature.report(LINK_BEHIND_LINK, here.text)
            else:
                nested.append(here)
        folder = signature.folder()
        if top.links:  # the files are those of the folder that it leads to, stats and all
            folder = replace(folder, is_alias=True, fingerprint=f"{folder.fingerprint}-alias")
        return folder, nested

    def _take(
        self, signature: FolderBuilder, here: Directory, listed: Listing
    ) -> Iterator[Directory]:
        """Note what lies directly in a directory of a skill; return the directories in it."""
        try:
            stat, stat_of = self._tree.stat(here.path), self._tree.stats(here.path)
        except OSError:
            return iter(())
        signature.add_directory(here.text, stat, listed.file_count + len(listed.others))
        for name in listed.files:
            path = f"{here.text}/{text_path(name)}"
            try:
                stat = stat_of(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                signature.report_unreadable(path, error)
                continue
            signature.add(path, stat)
            if stat.st_nlink > 1:
                signature.add_hard_link(path, stat, f"{here.path}/{name}")
        others = {} if signature.is_full else self.targets(here, listed.others)
        if here.is_skill:
            signature.add_skill_mds(listed.skill_mds, listed.directories, others)
        signature.add_targets(here.text, others)
        return here.children(listed, others)


def _unlisted(error: OSError) -> Finding:
    kind = READ_FAILED if error.errno in IO_ERRORS else DIRECTORY_UNREADABLE
    return kind.at(f"The directory cannot be listed: {error.strerror}.")


def _leads_back(here: Directory, target: Target | FindingType) -> bool:
    return isinstance(target, Target) and S_ISDIR(target.stat.st_mode) and here.lies_in(target.path)


def _strays(here: Directory, skill_mds: list[str], others: Targets) -> Iterator[LooseFinding]:
    """Yield what deserves a word directly in a directory that belongs to no skill."""
    for name in sorted({*skill_mds, *others}):
        target = others.get(name)
        if name in skill_mds:
            kind = SKILL_MD_IN_ROOT
        elif isinstance(target, FindingType) and target is not SPECIAL_FILE:
            kind = target
        elif here.links and isinstance(target, Target) and S_ISDIR(target.stat.st_mode):
            kind = LINK_BEHIND_LINK
        else:
            continue
        yield LooseFinding(here.child(name).text, kind.at())

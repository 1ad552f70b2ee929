"""Descent from a root to the path where a walk begins."""

import errno
import os
from functools import cached_property
from stat import S_ISDIR, S_ISLNK, S_ISREG

from catalog.model.errors import RootUnreadable
from catalog.model.paths import os_path
from pipeline.roots.codes import IGNORE_FILE_REFUSED
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.ignore_files import Decision, IgnoreFile, IgnoreFileRefused
from pipeline.roots.local import outside_skills
from pipeline.roots.local.directory import Directory, DiskTree
from pipeline.roots.local.folder import Limits
from pipeline.roots.local.root_directory import EXHAUSTED, RootDirectory, unlisted
from pipeline.roots.local.stat_cache import StatCache
from pipeline.roots.local.tree_walk import (
    VANISHED,
    Archive,
    LooseFinding,
    TreeWalk,
    loose_findings,
    unlistable,
)
from pipeline.roots.names import is_junk, is_skill_md


class Descent:
    """Way from a root to the path where a walk begins.

    All answers depend only on the directories on the way, never on earlier walks, so that a walk
    over a part agrees with a walk over the whole.
    """

    def __init__(
        self, root: RootDirectory, under: str, limits: Limits, cache: StatCache | None = None
    ) -> None:
        self._root = root
        self._under = under
        self._limits = limits
        self.walk = TreeWalk(DiskTree(root), limits, root.path, cache)
        self._passed: list[Directory] = []

    def reach(self) -> Directory | LooseFinding | None:
        """Return the start of the walk; None if a walk from the root would not reach it either."""
        here, self._passed = Directory(""), []
        names = os_path(self._under).split("/") if self._under else []
        for depth, name in enumerate(names, 1):
            is_last = depth == len(names)
            if is_junk(name) or name in {"", ".", ".."} or depth > self._limits.depth + is_last:
                return None
            self._passed.append(here)
            here.pass_through(name, self._root)
            if refusal := self._read_ignore_files(here):
                return refusal
            below = self._step(here, name)
            if not isinstance(below, Directory):
                return below if is_last else None
            here = below
        return here

    def plain_way(self) -> tuple[IgnoreFile, ...] | None:
        """Return the ignore files for a skill folder in the directory at the end of the way.

        None if more than these decides on such a folder: a link, or a skill folder around it.
        """
        here = self.reach()
        if not isinstance(here, Directory) or here.links or here.in_skill:
            return None
        here.pass_through("", self._root)
        if here.is_skill or self._read_ignore_files(here):
            return None
        return here.ignore_files

    def archive(self) -> Archive | LooseFinding | None:
        """Return the archive that a walk from the root would find at the path of its file."""
        parent, _, name = self._under.rpartition("/")
        here = Descent(self._root, parent, self._limits).reach()
        if not isinstance(here, Directory):
            return here
        if refusal := self._read_ignore_files(here):
            return refusal
        if decision := here.ignoring(os_path(name)):
            return _ignored(here, os_path(name), decision, "!")
        if here.depth > self._limits.depth or is_junk(os_path(name)) or self.is_inside_skill:
            return None
        stat = self._stat(here, os_path(name), "!")
        if not isinstance(stat, os.stat_result):
            return stat
        if S_ISLNK(stat.st_mode):
            others = self.walk.targets(here, [os_path(name)])
            return next(self.walk.archives(here, [], others), None)
        return self.walk.archive(here, os_path(name), stat) if S_ISREG(stat.st_mode) else None

    def is_covered(self) -> bool:
        """Whether a finding about a directory on the way tells of the start, too; lists them."""
        return any(map(self._is_outside, self._passed[1:]))

    def _is_outside(self, here: Directory) -> bool:
        known = self._root.without_skill
        if here.path not in known:
            known[here.path] = self.walk.outside_at(here) is not None
        return known[here.path]

    @cached_property
    def is_inside_skill(self) -> bool:
        """Whether the start lies in a skill folder, whose findings cover loose ones below it."""
        names = os_path(self._under).split("/")
        above = ["".join(f"/{name}" for name in names[:depth]) for depth in range(1, len(names))]
        return any(map(self._is_skill, above))

    def _is_skill(self, path: str) -> bool:
        try:
            real = self._root.real_path(path)
        except OSError:
            return False
        return real is not None and self._root.holds_skill_md(real)

    def _read_ignore_files(self, here: Directory) -> LooseFinding | None:
        """Let the ignore files of a directory on the way apply; return why one cannot be used."""
        if not (self._limits.ignores_folders or here.in_skill or here.is_skill):
            return None
        known, above = self._root.ignore_files, here.ignore_files
        place = (here.path, here.text)
        if place in known:
            here.ignore_files = (*known[place], *above)
            return None
        try:
            names = [name for name in IGNORE_FILES if self._may_exist(f"{here.path}/{name}")]
            self.walk.read_ignore_files(here, names)
            known[place] = here.ignore_files[: len(here.ignore_files) - len(above)]
        except IgnoreFileRefused as refused:
            if not here.text:
                raise RootUnreadable(f"The root {self._root.path}: {refused}") from refused
            return LooseFinding(here.text, IGNORE_FILE_REFUSED.at(str(refused)))
        except OSError as error:
            self._check_root()
            raise unlisted(self._root.path, error) from error
        return None

    def _may_exist(self, path: str) -> bool:
        """Whether a file exists, or cannot be looked for. No open is tried on most ways."""
        try:
            self._root.stat(path)
        except OSError as error:
            return error.errno not in VANISHED
        return True

    def _step(self, here: Directory, name: str) -> Directory | LooseFinding | None:
        stat = self._stat(here, name)
        if not isinstance(stat, os.stat_result):
            return stat
        is_directory = S_ISDIR(stat.st_mode)
        if decision := here.ignoring(name, is_directory=is_directory):
            return _ignored(here, name, decision) if is_directory else None
        others = self.walk.targets(here, [name]) if S_ISLNK(stat.st_mode) else {}
        if not is_skill_md(name):
            if is_directory:
                return here.child(name)
            if name in here.linked(others):
                return here.child(name, others[name])
        loose = next(loose_findings(here, [name] if is_skill_md(name) else [], others), None)
        if loose or not S_ISREG(stat.st_mode):
            return loose
        finding = outside_skills.of_file(here, name)
        return LooseFinding(here.child(name).text, finding) if finding else None

    def _stat(
        self, here: Directory, name: str, end: str = ""
    ) -> os.stat_result | LooseFinding | None:
        """Return the stat of a name, or the finding that prevents it; None if it has vanished."""
        try:
            return self._root.stat(f"{here.path}/{name}")
        except OSError as error:
            self._check_root()
            if error.errno in EXHAUSTED:
                raise unlisted(self._root.path, error) from error
            if error.errno in VANISHED | {errno.ENAMETOOLONG}:
                return None
            return self._unlisted_on_the_way(here) or LooseFinding(
                f"{here.child(name).text}{end}", unlistable(error)
            )

    def _unlisted_on_the_way(self, here: Directory) -> LooseFinding | None:
        """Return the finding of a walk from the root about a directory it cannot list."""
        try:
            self._root.names(here.path)
        except OSError as error:
            return LooseFinding(here.text, unlistable(error)) if here.text else None
        return None

    def _check_root(self) -> None:
        """Raise RootUnreadable if the root itself has vanished, and not only a path in it."""
        try:
            os.scandir(self._root.path).close()
        except OSError as error:
            raise unlisted(self._root.path, error) from error


def _ignored(here: Directory, name: str, decision: Decision, end: str = "") -> LooseFinding | None:
    """Return the finding about an ignored folder or archive; None if it is ignored in silence."""
    found = outside_skills.of_ignored(here, name, decision, end)
    return next((LooseFinding(path, finding) for path, finding in found), None)

"""Walk over a tree of directories: its skill folders, archives and loose findings."""

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from stat import S_ISDIR, S_ISREG
from typing import TypeAlias

from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding, FindingType
from catalog.model.paths import is_archive, text_path
from pipeline.roots import ignore_files, internal_errors
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    FOLDER_TOO_DEEP,
    IGNORE_FILE_REFUSED,
    LINK_BEHIND_LINK,
    LINK_LOOP,
    READ_FAILED,
    SKILL_MD_IN_ROOT,
    SPECIAL_FILE,
)
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.ignore_files import IgnoreFile, IgnoreFileRefused
from pipeline.roots.local import outside_skills
from pipeline.roots.local.directory import Directory, Listing, Tree
from pipeline.roots.local.folder import Folder, Limits, Target, Targets
from pipeline.roots.local.folder_builder import FolderBuilder
from pipeline.roots.local.root_directory import EXHAUSTED, IO_ERRORS, unlisted
from pipeline.roots.local.stat_cache import StatCache
from pipeline.roots.snapshot import fingerprint

VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors of a path that has just vanished."""


@dataclass(frozen=True, slots=True)
class LooseFinding:
    """Finding in a root about something that belongs to no skill."""

    path: str  # relative to the root
    finding: Finding


@dataclass(frozen=True, slots=True)
class Archive:
    """Archive file, seen by a walk but not opened yet."""

    path: str  # of its top, relative to the root: `group/x.zip!`
    root: str  # absolute
    file: str  # path below the root, without links: see RootDirectory
    stat: os.stat_result = field(compare=False)  # for a link, that of its target
    limits: Limits
    fingerprint: str  # changes with the file and with the limits
    is_alias: bool  # reached through a link
    ignore_files: tuple[IgnoreFile, ...] = ()  # those that apply to it, nearest first

    @property
    def changed_ns(self) -> int:
        """Its ctime, in ns since the epoch."""
        return self.stat.st_ctime_ns


@dataclass(frozen=True, slots=True)
class SameFolder:
    """Skill folder that has not changed since the walk that filled the stat cache."""

    path: str  # relative to the root


Result: TypeAlias = Folder | SameFolder | Archive | LooseFinding
"""Result of a walk."""


class TreeWalk:
    """Walk over a tree of directories, on disk or in an archive."""

    def __init__(
        self, tree: Tree, limits: Limits, root: str = "", cache: StatCache | None = None
    ) -> None:
        self._tree = tree
        self._limits = limits
        self._root = root
        self._cache = cache

    def below(
        self, start: Directory, is_covered: Callable[[], bool] = lambda: False
    ) -> Iterator[Result]:
        """Yield the folders, archives and loose findings at and below a directory.

        is_covered returns whether a finding about a directory above tells of the start, too.
        """
        pending = [iter((start,))]
        while pending:
            here = next(pending[-1], None)
            if here is None:
                pending.pop()
                continue
            at_start = is_covered if here is start else None
            yield from confined(self._root, here.text, self._at(here, pending, at_start))

    def _at(
        self,
        here: Directory,
        pending: list[Iterator[Directory]],
        is_covered: Callable[[], bool] | None,
    ) -> Iterator[Result]:
        """Yield the results for a directory itself; add the directories below it to `pending`."""
        if self._is_same(here):
            yield SameFolder(here.text)
            return
        listing = self._list(here, self._limits.files)
        if isinstance(listing, Finding):
            yield LooseFinding(here.text, listing)
        elif listing is None:
            return
        elif here.judge(listing) or here.in_skill:
            folder, nested = self._build(here, listing)
            if here.is_skill:
                yield folder
            pending.append(iter(nested))
        else:
            others = self.targets(here, listing.others)
            yield from loose_findings(here, listing.skill_mds, others)
            if is_covered:
                here.is_covered = is_covered()
            yield from _outside_skills(here, listing)
            yield from self.archives(here, listing.files, others)
            pending.append(here.children(listing, others))

    def outside_at(self, here: Directory) -> Finding | None:
        """Return the finding about a directory as a folder that is no skill."""
        listing = self._list(here, self._limits.files)
        if not isinstance(listing, Listing) or here.judge(listing) or here.in_skill:
            return None
        return outside_skills.of_folder(here, listing)

    def skill_at(self, here: Directory) -> Folder | None:
        """Return a directory as a skill folder; None if it is none."""
        listing = self._list(here, self._limits.files)
        if not isinstance(listing, Listing) or not here.judge(listing):
            return None
        return self._build(here, listing)[0]

    def targets(self, here: Directory, names: Sequence[str]) -> Targets:
        """Return the targets of names that are neither files nor directories, loops as findings.

        Raises RootUnreadable if the system does not reveal them.
        """
        if not names:
            return {}
        try:
            targets = self._tree.targets(here.path, names)
        except OSError as error:
            raise unlisted(self._root, error) from error
        return {
            name: LINK_LOOP if _leads_back(here, target) else target
            for name, target in targets.items()
        }

    def archives(self, here: Directory, files: Sequence[str], others: Targets) -> Iterator[Archive]:
        """Yield the archives directly in a directory outside of skills."""
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

    def read_ignore_files(self, here: Directory, names: Collection[str]) -> None:
        """Let the ignore files of these names in a directory apply to its entries.

        Raises IgnoreFileRefused with a sentence.
        """
        if any(file.folder == here.text for file in here.ignore_files):
            return
        own = []
        for name in IGNORE_FILES:
            if name not in names:
                continue
            path = f"{here.text}/{name}" if here.text else name
            try:
                head = self._tree.head(f"{here.path}/{name}", ignore_files.MOST_BYTES + 1)
                own.append(_obeyed(ignore_files.parse(here.text, name, head)))
            except IgnoreFileRefused as refused:
                raise IgnoreFileRefused(f"{path} {refused}.") from refused
            except OSError as error:
                if error.errno in VANISHED:  # or it is a link, which git does not follow, either
                    continue
                if error.errno in EXHAUSTED:
                    raise
                reason = error.strerror or "it has changed"
                raise IgnoreFileRefused(f"{path} cannot be read: {reason}.") from error
        here.ignore_files = (*own, *here.ignore_files)

    def archive(
        self, here: Directory, name: str, stat: os.stat_result, target: Target | None = None
    ) -> Archive:
        """Return the archive of a name and its stat; `target` is set if the name is a link."""
        is_alias = target is not None or here.links > 0
        file = target.path if target else f"{here.path}/{name}"
        applied = here.ignore_files
        return Archive(
            f"{here.child(name).text}!",
            self._root,
            file,
            stat,
            self._limits,
            fingerprint([(" ".join(map(str, (self._limits, is_alias, *applied))), stat)]),
            is_alias,
            applied,
        )

    def _is_same(self, here: Directory) -> bool:
        return (
            self._cache is not None
            and here.text in self._cache
            and not (here.links or here.in_skill)
            and self._cache.is_same(here.text, here.path, here.ignore_files)
        )

    def _list(self, here: Directory, files: int) -> Listing | Finding | None:
        """List a directory, or return the finding about it; None if it has just vanished."""
        if here.depth > self._limits.depth:
            limit = self._limits.depth
            return FOLDER_TOO_DEEP.at(
                f"The directory lies more than {limit} directories below the root; "
                "nothing in it is read.",
            )
        try:
            listing = self._tree.listing(here.path, files)
            if self._limits.ignores_folders or here.in_skill or (here.text and listing.skill_mds):
                self.read_ignore_files(here, listing.files)
            if here.ignore_files:
                if len(listing.files) < listing.file_count:
                    listing = self._tree.listing(here.path, listing.file_count)
                listing.leave_out(here, files)
            return listing
        except IgnoreFileRefused as refused:
            if not here.text:
                raise RootUnreadable(f"The root {text_path(self._root)}: {refused}") from refused
            return IGNORE_FILE_REFUSED.at(str(refused))
        except OSError as error:
            if not here.text or error.errno in EXHAUSTED:
                raise unlisted(self._root, error) from error
            if error.errno in VANISHED:
                return None
            return unlistable(error)

    def _build(self, top: Directory, top_listing: Listing) -> tuple[Folder, list[Directory]]:
        """Return the skill folder at `top`, and the directories of skill folders inside it."""
        builder = FolderBuilder(top.text, self._limits)
        nested: list[Directory] = []
        pending = [self._add(builder, top, top_listing)]
        while pending:
            here = next(pending[-1], None)
            if here is None:
                pending.pop()
                continue
            listing = self._list(here, builder.room)
            if isinstance(listing, Finding):
                builder.add_unlisted(here.text, listing)
            elif listing is None:
                continue
            elif not listing.skill_mds or here.is_data:
                pending.append(self._add(builder, here, listing))
            elif here.links > 1:
                builder.report(LINK_BEHIND_LINK, here.text)
            else:
                nested.append(here)
        folder = builder.folder()
        if not (nested or folder.problems or top.in_skill or top.links or builder.has_links):
            around = tuple(file for file in top.ignore_files if file.folder != top.text)
            folder = replace(folder, around=around)
        if top.links:  # the files and their stats are those of the link's target
            folder = replace(folder, is_alias=True, fingerprint=f"{folder.fingerprint}-alias")
        return folder, nested

    def _add(
        self, builder: FolderBuilder, here: Directory, listing: Listing
    ) -> Iterator[Directory]:
        """Add the direct entries of a directory of a skill; return the directories among them."""
        try:
            stat, stat_of = self._tree.stat(here.path), self._tree.stats(here.path)
        except OSError:
            return iter(())
        builder.add_directory(here.text, stat, listing.file_count + len(listing.others))
        builder.leave_out(here.text, listing)
        for name in listing.files:
            path = f"{here.text}/{text_path(name)}"
            try:
                stat = stat_of(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                builder.report_unreadable(path, error)
                continue
            builder.add(path, stat)
            if stat.st_nlink > 1:
                builder.add_hard_link(path, stat, f"{here.path}/{name}")
        others = {} if builder.is_full else self.targets(here, listing.others)
        if here.is_skill:
            builder.add_skill_mds(listing.skill_mds, listing.directories, others)
        builder.add_targets(here.text, others)
        return here.children(listing, others)


def confined(root: str, path: str, results: Iterable[Result]) -> Iterator[Result]:
    """Yield results; an unexpected exception becomes a finding about the folder at a path.

    In the root itself it makes the root unreadable, so that nothing counts as removed. Raises
    RootUnreadable.
    """
    try:
        yield from results
    except Exception as error:
        is_of_folder = isinstance(error, OSError) and error.errno not in EXHAUSTED
        if not is_of_folder and not internal_errors.is_internal(error):
            raise
        finding = internal_errors.noted(f"{root}/{path}", error)
        if not path:
            raise RootUnreadable(f"The root {text_path(root)}: {finding.message}") from error
        yield LooseFinding(path, finding)


def _obeyed(file: IgnoreFile) -> IgnoreFile:
    """Return an ignore file that can be obeyed in full, or that of a root, whose skills go on."""
    if file.unusable and file.folder:
        line, why = file.unusable[0]
        raise IgnoreFileRefused(f"has a pattern in line {line} that cannot be used, {why}")
    return file


def _outside_skills(here: Directory, listing: Listing) -> Iterator[LooseFinding]:
    """Yield the findings about a directory and files that are part of no skill.

    The outermost directory with a finding speaks for those below it.
    """
    for path, finding in outside_skills.of_directory(here, listing):
        if path != here.text:
            yield LooseFinding(path, finding)
        elif not here.is_covered:
            here.is_covered = True
            yield LooseFinding(path, finding)


def unlistable(error: OSError) -> Finding:
    """Return the finding about a directory that cannot be listed."""
    kind = READ_FAILED if error.errno in IO_ERRORS else DIRECTORY_UNREADABLE
    return kind.at(f"The directory cannot be listed: {error.strerror}.")


def _leads_back(here: Directory, target: Target | FindingType) -> bool:
    return isinstance(target, Target) and S_ISDIR(target.stat.st_mode) and here.lies_in(target.path)


def loose_findings(
    here: Directory, skill_mds: list[str], others: Targets
) -> Iterator[LooseFinding]:
    """Yield the loose findings directly in a directory outside of skills."""
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

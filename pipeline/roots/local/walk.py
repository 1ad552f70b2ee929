"""Walk over a tree of directories: its skill folders, archives and loose findings."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from stat import S_ISDIR, S_ISREG

from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding, FindingType
from catalog.model.paths import archive_of, is_archive, os_path, text_path
from pipeline.roots import ignore_files, internal_errors
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    FOLDER_TOO_DEEP,
    IGNORE_FILE_REFUSED,
    LINK_BEHIND_LINK,
    LINK_LOOP,
    READ_FAILED,
    SKILL_MD_IN_ROOT,
)
from pipeline.roots.file_kinds import is_junk
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.ignore_files import SKILLIGNORE, IgnoreFile, IgnoreFileRefused
from pipeline.roots.local import outside_skills
from pipeline.roots.local.directory import Directory, Listing, Target, Targets, Tree
from pipeline.roots.local.folder import (
    Archive,
    Folder,
    Limits,
    LooseFinding,
    Result,
    SameFolder,
    StatCache,
    UnenteredFolder,
)
from pipeline.roots.local.folder_builder import FolderBuilder
from pipeline.roots.local.root_directory import (
    EXHAUSTED,
    IO_ERRORS,
    VANISHED,
    RootDirectory,
    opened_root,
    unlisted,
)
from pipeline.roots.snapshot import fingerprint


def walk(
    root: RootDirectory,
    path: str,
    limits: Limits,
    cache: StatCache | None = None,
    *,
    enters_skills: bool = True,
) -> Iterator[Result]:
    """Yield every skill folder, archive and loose finding at or below a path of a root.

    A folder comes before those inside it, and siblings are sorted by name. The results below a
    path are the same whether the walk starts there or above, unless SKILL.md of a folder above has
    a rare spelling. A path that has vanished yields
    nothing. The path of an archive is that of its top, `x.zip!`; `x.zip` means a directory of
    this name. Folders in the cache that have not changed are not listed. Raises RootUnreadable
    if the root itself cannot be listed.
    """
    steps = _Walk(root, limits, root.path, cache, enters_skills=enters_skills)

    def results() -> Iterator[Result]:
        start = steps.reach(root, path)
        if isinstance(start, Directory):
            yield from steps.below(start)
        elif start:
            yield start
        else:
            root.check()

    return _confined(root.path, path, results())


def folders_in(tree: Tree, top: Directory, limits: Limits) -> Iterator[Folder | LooseFinding]:
    """Yield every skill folder and loose finding in an archive.

    An archive inside it is an ordinary file.
    """
    for result in _Walk(tree, limits).below(top):
        if isinstance(result, (Folder, LooseFinding)):
            yield result


def unit_of(root: str, path: str) -> str | None:
    """Return the path that must be quiet before a hinted path can be scanned.

    The hinted path is an absolute path of the system. The result is the outermost directory on
    the way to it that contains a SKILL.md now, else the archive at its end, else the root's entry
    above it, or "" for the root itself and its ignore files, which may concern every folder; None
    for junk and for paths outside. A folder with a rare spelling of SKILL.md settles together with
    the root's entry.
    """
    base, hinted = os.path.abspath(root), os.path.abspath(path)
    if hinted == base:
        return ""
    prefix = f"{base.rstrip('/')}/"
    if not hinted.startswith(prefix):
        return None
    names = hinted.removeprefix(prefix).split("/")
    if names[0] in IGNORE_FILES:
        return ""
    if any(map(is_junk, names)):
        return None
    try:
        with opened_root(base) as opened:
            return text_path(_outermost(opened, names) or names[0])
    except RootUnreadable:
        return text_path(names[0])


def _outermost(root: RootDirectory, names: list[str]) -> str | None:
    """Return the path of the first skill folder on a path, or of the archive at its end."""
    path = ""
    with suppress(OSError):
        for depth, name in enumerate(names, 1):
            path = root.resolved(f"{path}/{name}")
            if root.has_skill_md(path):
                return "/".join(names[:depth])
        if is_archive(names[-1]) and S_ISREG(root.stat(path).st_mode):
            return "/".join(names)
    return None


class _Walk:
    """Walk over a tree of directories, on disk or in an archive."""

    def __init__(
        self,
        tree: Tree,
        limits: Limits,
        root: str = "",
        cache: StatCache | None = None,
        *,
        enters_skills: bool = True,
    ) -> None:
        self._tree = tree
        self._limits = limits
        self._root = root
        self._cache = cache
        self._enters_skills = enters_skills

    def reach(self, root: RootDirectory, path: str) -> Directory | Result | None:
        """Return the directory, archive or loose finding at a path.

        None if a walk from the root would not reach it either. On the way, only a few names of
        each directory are looked up.
        """
        here, file = Directory(""), archive_of(path)
        names = os_path(file or path).split("/") if path else []
        for number, name in enumerate(names, 1):
            is_last = number == len(names)
            if is_junk(name) or name in {"", ".", ".."} or here.depth > self._limits.depth:
                return None
            listing = self._list(here, partial(root.listing, only=name))
            if not isinstance(listing, Listing):
                return LooseFinding(here.text, listing) if listing and not here.in_skill else None
            here.judge(listing)
            others = self._targets(here, listing.others)
            child = next(here.children(listing, others), None)
            if child is None or (file and is_last):
                if not is_last or here.in_skill or here.is_skill:
                    return None
                wanted = f"{file}!" if file else path
                entries = self._entries(here, listing, others)
                return next((entry for entry in entries if entry.path == wanted), None)
            here = child
        return here

    def below(self, start: Directory) -> Iterator[Result]:
        """Yield the folders, archives and loose findings at and below a directory."""
        pending = [iter((start,))]
        while pending:
            here = next(pending[-1], None)
            if here is None:
                pending.pop()
                continue
            yield from _confined(self._root, here.text, self._at(here, pending))

    def _at(self, here: Directory, pending: list[Iterator[Directory]]) -> Iterator[Result]:
        """Yield the results for a directory itself; add the directories below it to `pending`."""
        if self._is_same(here):
            yield SameFolder(here.text)
            return
        listing = self._list(here)
        if isinstance(listing, Finding) and not here.in_skill:
            yield LooseFinding(here.text, listing)
        elif not isinstance(listing, Listing):
            return
        elif here.judge(listing) and not self._enters_skills:
            yield UnenteredFolder(here.text)
        elif here.is_skill or here.in_skill:
            folder, nested = self._build(here, listing)
            if here.is_skill:
                yield folder
            pending.append(iter(nested))
        else:
            others = self._targets(here, listing.others)
            yield from self._entries(here, listing, others)
            finding = outside_skills.of_folder(here, listing)
            here.is_outside = finding is not None
            if finding and not self._is_covered(here):
                yield LooseFinding(here.text, finding)
            pending.append(here.children(listing, others))

    def _is_same(self, here: Directory) -> bool:
        return (
            self._cache is not None
            and not (here.links or here.in_skill)
            and self._cache.is_same(here)
        )

    def _is_covered(self, here: Directory) -> bool:
        """Whether a finding about a directory above tells of a folder that is no skill, too."""
        above = here.above
        if above is None or not above.text:
            return False
        if above.is_outside is None:  # the walk began below it
            listing = self._list(above)
            above.is_outside = isinstance(listing, Listing) and bool(
                outside_skills.of_folder(above, listing)
            )
        return above.is_outside or self._is_covered(above)

    def _entries(
        self, here: Directory, listing: Listing, others: Targets
    ) -> Iterator[Archive | LooseFinding]:
        """Yield the archives directly in a directory outside of skills, and loose findings."""
        for name in sorted({*listing.skill_mds, *others}):
            if kind := _loose(here, listing, name, others.get(name)):
                yield LooseFinding(here.text_of(name), kind.at())
        yield from outside_skills.of_entries(here, listing)
        for name in sorted(filter(is_archive, (*listing.files, *others))):
            target = others.get(name) or self._regular(f"{here.path}/{name}")
            if isinstance(target, Target) and S_ISREG(target.stat.st_mode):
                yield self._archive(here, name, target, is_alias=name in others or here.links > 0)

    def _regular(self, path: str) -> Target | None:
        with suppress(OSError):
            return Target(self._tree.stat(path), path)
        return None

    def _archive(self, here: Directory, name: str, target: Target, *, is_alias: bool) -> Archive:
        applied = here.ignore_files
        return Archive(
            f"{here.text_of(name)}!",
            self._root,
            target.path,
            target.stat,
            self._limits,
            fingerprint([(" ".join(map(str, (self._limits, is_alias, *applied))), target.stat)]),
            is_alias,
            applied,
        )

    def _build(self, top: Directory, top_listing: Listing) -> tuple[Folder, list[Directory]]:
        """Return the skill folder at `top`, and the directories of skill folders inside it."""
        builder = FolderBuilder(top, self._limits, self._tree)
        nested: list[Directory] = []
        pending = [self._add(builder, top, top_listing)]
        while pending:
            here = next(pending[-1], None)
            if here is None:
                pending.pop()
                continue
            listing = self._list(here)
            if isinstance(listing, Finding):
                builder.add_problem(here, listing)
            elif listing is None:
                continue
            elif not listing.skill_mds or here.is_data:
                pending.append(self._add(builder, here, listing))
            elif here.links > 1:
                builder.add_problem(here, LINK_BEHIND_LINK.at())
            else:
                nested.append(here)
        return builder.folder(is_alone=not nested), nested

    def _add(
        self, builder: FolderBuilder, here: Directory, listing: Listing
    ) -> Iterator[Directory]:
        """Add the direct entries of a directory of a skill; return the directories among them."""
        if not builder.add(here, listing):
            return iter(())
        others = {} if builder.is_full else self._targets(here, listing.others)
        builder.add_others(here, listing, others)
        return here.children(listing, others)

    def _targets(self, here: Directory, names: Sequence[str]) -> Targets:
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
            name: LINK_LOOP if here.leads_back(target) else target
            for name, target in targets.items()
        }

    def _list(
        self, here: Directory, read: Callable[[str], Listing] | None = None
    ) -> Listing | Finding | None:
        """List a directory, or return the finding about it; None if it has just vanished."""
        if here.depth > self._limits.depth:
            limit = self._limits.depth
            return FOLDER_TOO_DEEP.at(
                f"The directory lies more than {limit} directories below the root; "
                "nothing in it is read.",
            )
        try:
            listing = (read or self._tree.listing)(here.path)
            here.ignore_files = here.around
            if self._limits.ignores_folders or here.in_skill or (here.text and listing.skill_mds):
                if SKILLIGNORE in (*listing.others, *listing.directories):
                    raise IgnoreFileRefused(f"{here.text_of(SKILLIGNORE)} is no regular file.")
                names = [name for name in IGNORE_FILES if name in listing.files]
                own = [self._ignore_file(here, name) for name in names]
                here.ignore_files = (*filter(None, own), *here.around)
        except IgnoreFileRefused as refused:
            if not here.text:
                raise RootUnreadable(f"The root {text_path(self._root)}: {refused}") from refused
            return IGNORE_FILE_REFUSED.at(str(refused))
        except OSError as error:
            if not here.text or error.errno in EXHAUSTED:
                raise unlisted(self._root, error) from error
            if error.errno in VANISHED:
                return None
            kind = READ_FAILED if error.errno in IO_ERRORS else DIRECTORY_UNREADABLE
            return kind.at(f"The directory cannot be listed: {error.strerror}.")
        listing.leave_out(here)
        return listing

    def _ignore_file(self, here: Directory, name: str) -> IgnoreFile | None:
        """Return the ignore file of a name in a directory; None if it has just vanished.

        Raises IgnoreFileRefused with a sentence.
        """
        path = here.text_of(name)
        try:
            head = self._tree.head(f"{here.path}/{name}", ignore_files.MOST_BYTES + 1)
            return _obeyed(ignore_files.parse(here.text, name, head))
        except IgnoreFileRefused as refused:
            raise IgnoreFileRefused(f"{path} {refused}.") from refused
        except OSError as error:
            if error.errno in VANISHED:
                return None
            if error.errno in EXHAUSTED:
                raise
            reason = error.strerror or "it has changed"
            raise IgnoreFileRefused(f"{path} cannot be read: {reason}.") from error


def _confined(root: str, path: str, results: Iterable[Result]) -> Iterator[Result]:
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
    """Return a valid ignore file, or any of a root, whose skills are read in any case."""
    if file.unusable and file.folder:
        line, why = file.unusable[0]
        raise IgnoreFileRefused(f"has a pattern in line {line} that cannot be used, {why}")
    return file


def _loose(
    here: Directory, listing: Listing, name: str, target: Target | FindingType | None
) -> FindingType | None:
    """Return the type of the finding about a SKILL.md or a link outside of skills, if any."""
    if name in listing.skill_mds:
        return SKILL_MD_IN_ROOT
    if isinstance(target, Target):
        is_second = here.links and S_ISDIR(target.stat.st_mode)
        return LINK_BEHIND_LINK if is_second else None
    return target

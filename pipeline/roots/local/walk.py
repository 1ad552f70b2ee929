"""Walk over the skill folders below a root, with stats only; no file is opened."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from catalog.model.errors import RootUnreadable
from catalog.model.paths import archive_of, is_archive, os_path, text_path
from pipeline.roots.codes import (
    DIRECTORY_UNREADABLE,
    IGNORE_FILE_REFUSED,
    INTERNAL_ERROR,
    READ_FAILED,
)
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local.descent import Descent
from pipeline.roots.local.directory import Directory, Tree
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory, held_open
from pipeline.roots.local.stat_cache import StatCache
from pipeline.roots.local.tree_walk import Archive, LooseFinding, SameFolder, TreeWalk
from pipeline.roots.names import is_junk, is_skill_md
from pipeline.roots.snapshot import DATA_FOLDERS

DEFAULT_LIMITS = Limits()
ITSELF = "/."
"""End of a path that means a directory without its entries."""
UNLISTED = frozenset(
    kind.code for kind in (DIRECTORY_UNREADABLE, READ_FAILED, IGNORE_FILE_REFUSED, INTERNAL_ERROR)
)
"""Codes of the findings about directories whose contents are unknown."""


def walk(
    root: Path | RootDirectory,
    under: str = "",
    limits: Limits = DEFAULT_LIMITS,
    cache: StatCache | None = None,
) -> Iterator[Folder | SameFolder | Archive | LooseFinding]:
    """Yield every skill folder, archive and loose finding at or below `under` (relative).

    A folder comes before those inside it, and siblings are sorted by name. The results below a
    path are the same whether the walk starts there or above. A path that has vanished yields
    nothing. The path of an archive is that of its top, `x.zip!`; `x.zip` means a directory of
    this name; `x/.` is the directory x without its entries. Folders in the cache that have not
    changed are not listed. Raises RootUnreadable if the root itself cannot be listed.
    """
    with held_open(root) as opened:
        if archive_path := archive_of(under):
            archive = Descent(opened, archive_path, limits).archive()
            yield from [archive] if archive else []
            return
        descent = Descent(opened, under.removesuffix(ITSELF), limits, cache)
        start = descent.reach()
        if under.endswith(ITSELF):
            yield from _itself(descent, start)
            return
        results = (
            descent.walk.below(start, descent.is_covered)
            if isinstance(start, Directory)
            else iter([start] if start else [])
        )
        for result in results:
            if isinstance(result, (Folder, SameFolder)) or not descent.is_inside_skill:
                yield result


def is_same(root: RootDirectory, path: str, limits: Limits, cache: StatCache) -> bool:
    """Whether a folder and the way to it are as they were when its stats were stored."""
    parent, _, name = path.rpartition("/")
    if path not in cache or name in DATA_FOLDERS:  # for these, more counts on the way
        return False
    if parent not in cache.ways:
        cache.ways[parent] = Descent(root, parent, limits).plain_way()
    around = cache.ways[parent]
    return around is not None and cache.is_same(path, f"/{os_path(path)}", around)


def _itself(descent: Descent, start: Directory | LooseFinding | None) -> Iterator[LooseFinding]:
    """Yield the finding about a directory without those about its entries."""
    if not isinstance(start, Directory) or descent.is_inside_skill or descent.is_covered():
        return
    if finding := descent.walk.outside_at(start):
        yield LooseFinding(start.text, finding)


def folders_in(tree: Tree, start: Directory, limits: Limits) -> Iterator[Folder | LooseFinding]:
    """Yield every skill folder and loose finding at or below a directory in an archive.

    An archive inside it is an ordinary file.
    """
    for result in TreeWalk(tree, limits).below(start):
        if isinstance(result, (Folder, LooseFinding)):
            yield result


def archive_at(
    root: Path | RootDirectory, path: str, limits: Limits = DEFAULT_LIMITS
) -> Archive | None:
    """Return the archive that a path leads into; None if it has vanished.

    Raises RootUnreadable if the root, or a directory on the way to the archive, cannot be listed.
    """
    with held_open(root) as opened:
        archive = Descent(opened, archive_of(path) or path, limits).archive()
        if isinstance(archive, LooseFinding):
            raise _unreachable(opened, archive)
        return archive


def taken_apart(
    root: Path | RootDirectory, paths: Iterable[str], enough: int, depth: int = DEFAULT_LIMITS.depth
) -> list[str]:
    """Replace paths by the paths below them until there are enough; their walks are equal.

    A directory deeper than `depth` is not replaced, as its walk yields a finding about it.
    """
    parts = [(path, False) for path in paths]
    with held_open(root) as opened:
        while len(parts) < enough and not all(is_whole for _, is_whole in parts):
            below: list[tuple[str, bool]] = []
            for path, is_whole in parts:
                is_whole = is_whole or path.count("/") >= depth
                children = None if is_whole else _children(opened, path)
                below += (
                    [(path, True)] if children is None else [(name, False) for name in children]
                )
            parts = below
    return [path for path, _ in parts]


def _children(root: RootDirectory, path: str) -> list[str] | None:
    """Return the paths directly in a directory whose walks together equal its walk.

    None if it must be walked as a whole: a skill folder, a link, an archive, an ignored directory,
    or one that cannot be listed or whose ignore files cannot be used. A name with the ending of an
    archive may be a directory or a file, so both paths are returned.
    """
    if archive_of(path):
        return None
    try:
        top = Directory(f"/{os_path(path)}" if path else "", path)
        names = sorted(name for name in root.names(top.path) if not is_junk(name))
        descent = Descent(root, path, DEFAULT_LIMITS)
        if not isinstance(descent.reach(), Directory):
            return None
        descent.walk.read_ignore_files(top, names)
    except RootUnreadable:
        raise
    except Exception:  # noqa: BLE001  # its walk reports it
        return None
    if path and any(map(is_skill_md, names)):
        return None
    below = f"{path}/" if path else ""
    itself = [f"{path}{ITSELF}"] if path else []
    return itself + [
        f"{below}{text_path(name)}{end}"
        for name in names
        for end in (("", "!") if is_archive(name) else ("",))
    ]


def look_at(
    root: Path | RootDirectory, path: str, limits: Limits = DEFAULT_LIMITS
) -> Folder | None:
    """Return the skill folder at a path as it is now; None if there is none.

    Raises RootUnreadable if the root, or a directory on the way to the path, cannot be listed.
    """
    with held_open(root) as opened:
        descent = Descent(opened, path, limits)
        start = descent.reach()
        if isinstance(start, LooseFinding) and start.finding.code in UNLISTED:
            raise _unreachable(opened, start)
        return descent.walk.skill_at(start) if isinstance(start, Directory) else None


def _unreachable(root: RootDirectory, loose: LooseFinding) -> RootUnreadable:
    return RootUnreadable(f"{loose.path} in the root {root.path}: {loose.finding.message}")


def unit_of(root: Path, path: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return the path that must be quiet before a hinted path can be scanned.

    The hinted path is an absolute path of the system. The result is the outermost directory on
    the way to it that holds a SKILL.md now, else the archive at its end, else the root's entry
    above it, or "" for the root itself and its ignore files, which may concern every folder; None
    for junk and for paths outside. Only the common
    spellings of SKILL.md are checked, as bursts of events must stay cheap; a folder with a rarer
    one settles together with the root's entry.
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
        with held_open(root) as opened:
            return text_path(_outermost(opened, names, limits) or names[0])
    except RootUnreadable:
        return text_path(names[0])


def _outermost(root: RootDirectory, names: list[str], limits: Limits) -> str | None:
    """Return the path of the first skill folder on a path, or of the archive at its end."""
    resolved = ""
    with suppress(OSError):
        for depth, name in enumerate(names[: limits.depth], 1):
            real = root.real_path(name, resolved)
            if real is None:
                return None
            resolved = real
            if root.holds_common_skill_md(resolved):
                return "/".join(names[:depth])
    path = "/".join(names)
    return path if is_archive(names[-1]) and root.holds_file(f"/{path}") else None

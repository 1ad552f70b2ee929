"""Walk over the skill folders below a root, by stat alone, opening no file."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from catalog.model.errors import RootUnreadable
from catalog.model.paths import archive_of, is_archive, os_path, text_path
from pipeline.roots.codes import DIRECTORY_UNREADABLE, READ_FAILED
from pipeline.roots.local.descent import Archive, Descent, LooseFinding, TreeWalk
from pipeline.roots.local.directory import Directory, Tree
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory, held_open
from pipeline.roots.names import is_junk, is_skill_md

DEFAULT_LIMITS = Limits()
UNLISTED = frozenset({DIRECTORY_UNREADABLE.code, READ_FAILED.code})
"""Codes of the findings about a directory of which nobody knows what it holds."""


def walk(
    root: Path | RootDirectory, under: str = "", limits: Limits = DEFAULT_LIMITS
) -> Iterator[Folder | Archive | LooseFinding]:
    """Yield every skill folder, archive and stray at or below `under`, relative to the root.

    A folder comes before those inside it, and siblings are sorted by name. What is found below
    a path is the same whether the walk starts there or above. Nothing is yielded for a path
    that has vanished. The path of an archive is that of its top, `x.zip!`; `x.zip` is for the
    directory that it might be. Raises RootUnreadable if the root itself cannot be listed.
    """
    with held_open(root) as opened:
        if archived := archive_of(under):
            found_there = Descent(opened, archived, limits).archive()
            yield from [found_there] if found_there else []
            return
        descent = Descent(opened, under, limits)
        start = descent.reach()
        found = (
            descent.walk.below(start)
            if isinstance(start, Directory)
            else iter([start] if start else [])
        )
        for one in found:
            if isinstance(one, Folder) or not descent.is_inside_skill:
                yield one


def folders_in(tree: Tree, start: Directory, limits: Limits) -> Iterator[Folder | LooseFinding]:
    """Yield every skill folder and stray at or below a directory of another tree than the disk's.

    An archive in it is a file like any other.
    """
    for found in TreeWalk(tree, limits).below(start):
        if not isinstance(found, Archive):
            yield found


def archive_at(
    root: Path | RootDirectory, path: str, limits: Limits = DEFAULT_LIMITS
) -> Archive | None:
    """Return the archive that a path leads into; None if there is none any more.

    Raises RootUnreadable if the root itself cannot be listed, or the way to the archive.
    """
    with held_open(root) as opened:
        found = Descent(opened, archive_of(path) or path, limits).archive()
        if isinstance(found, LooseFinding):
            raise _unreached(opened, found)
        return found


def entries(root: RootDirectory, path: str) -> list[str] | None:
    """Return the paths directly in a directory that, walked each, give what its walk gives.

    None where it must be walked whole: a skill folder, a link, an archive, or what cannot be
    listed. What has the name of an archive may be a directory or a file, so both are named.
    """
    if archive_of(path):
        return None
    try:
        names = sorted(
            name for name in root.names(f"/{os_path(path)}" if path else "") if not is_junk(name)
        )
    except OSError:
        return None
    if path and any(map(is_skill_md, names)):
        return None
    below = f"{path}/" if path else ""
    return [
        f"{below}{text_path(name)}{end}"
        for name in names
        for end in (("", "!") if is_archive(name) else ("",))
    ]


def taken_apart(
    root: Path | RootDirectory, paths: Iterable[str], enough: int, depth: int = DEFAULT_LIMITS.depth
) -> list[str]:
    """Return paths that together are these, going down until there are enough of them.

    A directory below the depth that is walked is not taken apart: a walk has a word on it alone.
    """
    some = [(path, False) for path in paths]
    with held_open(root) as opened:
        while len(some) < enough and not all(is_whole for _, is_whole in some):
            below: list[tuple[str, bool]] = []
            for path, is_whole in some:
                is_whole = is_whole or path.count("/") >= depth
                children = None if is_whole else entries(opened, path)
                below += (
                    [(path, True)] if children is None else [(name, False) for name in children]
                )
            some = below
    return [path for path, _ in some]


def look_at(
    root: Path | RootDirectory, path: str, limits: Limits = DEFAULT_LIMITS
) -> Folder | None:
    """Return one skill folder as it is now, None if there is none at this path.

    Raises RootUnreadable if the root itself cannot be listed, or the way to the path.
    """
    with held_open(root) as opened:
        descent = Descent(opened, path, limits)
        start = descent.reach()
        if isinstance(start, LooseFinding) and start.finding.code in UNLISTED:
            raise _unreached(opened, start)
        return descent.walk.skill_at(start) if isinstance(start, Directory) else None


def _unreached(root: RootDirectory, found: LooseFinding) -> RootUnreadable:
    return RootUnreadable(f"{found.path} in the root {root.path}: {found.finding.message}")


def unit_of(root: Path, path: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return what must be quiet before a hinted absolute path of the system can be looked at.

    That is the outermost directory on the way down to it that holds a SKILL.md now, else an
    archive itself, else the entry of the root in which it lies, and "" for the root itself; None
    for junk and for paths outside. Only the common spellings of SKILL.md are asked for here,
    where a burst of events must stay cheap: a rarer one settles together with the entry of the
    root.
    """
    base, hinted = os.path.abspath(root), os.path.abspath(path)
    if hinted == base:
        return ""
    prefix = f"{base.rstrip('/')}/"
    if not hinted.startswith(prefix):
        return None
    names = hinted.removeprefix(prefix).split("/")
    if any(map(is_junk, names)):
        return None
    try:
        with held_open(root) as opened:
            return text_path(_outermost(opened, names, limits) or names[0])
    except RootUnreadable:
        return text_path(names[0])


def _outermost(root: RootDirectory, names: list[str], limits: Limits) -> str | None:
    """Return the path of the first skill folder on a way, or of the archive at its end."""
    at = ""
    with suppress(OSError):
        for depth, name in enumerate(names[: limits.depth], 1):
            behind = root.real_path(name, at)
            if behind is None:
                return None
            at = behind
            if root.holds_common_skill_md(at):
                return "/".join(names[:depth])
    path = "/".join(names)
    return path if is_archive(names[-1]) and root.holds_file(f"/{path}") else None

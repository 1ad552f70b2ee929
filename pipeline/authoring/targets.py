"""Places that an author names, and the skills in them that are left out."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from posixpath import dirname, join
from typing import TypeAlias

from catalog.filesystem.ownership import MARKER
from catalog.model import paths as model_paths
from catalog.model.errors import RootUnreadable
from catalog.model.paths import archive_of, is_archive, linked, os_path
from pipeline.config.selection import matches
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.codes import ARCHIVE_UNREADABLE, OUTSIDE_SKILLS
from pipeline.roots.file_kinds import is_skill_md
from pipeline.roots.local.folder import Archive, Folder, Limits, LooseFinding, Result
from pipeline.roots.source import DEFAULT_LIMITS, is_skill_folder, open_source

Patterns: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Folders, by their real paths, each with patterns as in a .gitignore there."""


class _LimitsOfNamed(Limits):
    """Limits of a folder that an author names; ignore files around it do not count."""

    ignores_folders = False


NAMED = _LimitsOfNamed()


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """Place to search for skills."""

    name: str  # path as given by the author
    root: Path
    under: str  # relative to the root
    alone: bool  # only this folder, without nested skills

    @property
    def named(self) -> str:
        """Real path that the author named."""
        return f"{self.root}/{self.under}".rstrip("/")

    @property
    def limits(self) -> Limits:
        """Limits of its skill folders."""
        return NAMED if self.under else DEFAULT_LIMITS

    def entries(self) -> list[Result]:
        """Return its skill folders, archives and loose findings, in the order of names."""
        with open_source(self.root, self.limits) as source:
            first = source.at(self.under) if self.alone else None
            found = [first] if first else [] if self.alone else source.walk(self.under)
            return sorted(filter(_counts, found), key=lambda entry: entry.path.split("/"))

    def full_name(self, path: str) -> str:
        """Return a path of the root in the form that the author used."""
        if self.under.endswith("!"):
            return f"{self.name}{path[len(self.under) - 1 :]}"
        below = path[len(self.under) :].lstrip("/")
        if self.name in (".", "/"):
            return f"{self.name}{below}".removeprefix("." if below else "")
        return f"{self.name}/{below}" if below else self.name


def opened(entry: Result) -> Iterator[Folder | LooseFinding]:
    """Yield an entry, or the skill folders in it if it is an archive."""
    if isinstance(entry, (Folder, LooseFinding)):
        yield entry
    elif isinstance(entry, Archive):
        try:
            with open_archive(entry) as folders:
                yield from folders
        except OSError as error:
            message = f"The archive cannot be read: {error.strerror or error}."
            yield LooseFinding(entry.path, ARCHIVE_UNREADABLE.at(message))


def _counts(entry: Result) -> bool:
    """Return whether an entry is reported to its author."""
    return not (isinstance(entry, LooseFinding) and entry.finding.code in OUTSIDE_SKILLS)


def target_of(path: Path) -> SearchedPlace:
    """Return the place that an author's path names. Raises RootUnreadable for another kind."""
    alone = is_skill_md(path.name)
    if alone:
        path = path.parent
    name = model_paths.text_path(path.as_posix())
    # Links are resolved: a skill has the name of its real folder.
    folder = Path(os.path.realpath(path))
    if not (alone or path.is_dir()):
        if path.is_file() and is_archive(path.name):
            inside = f"{model_paths.text_path(folder.name)}!"
            return SearchedPlace(name, folder.parent, inside, alone)
        raise RootUnreadable(f"{name} is neither a folder, an archive nor a SKILL.md.")
    if is_skill_folder(folder):
        return SearchedPlace(name, folder.parent, model_paths.text_path(folder.name), alone)
    return SearchedPlace(name, folder, "", False)


def is_excluded(patterns: Patterns, path: str, named: str) -> bool:
    """Return whether the skill at a path is left out; both are real paths.

    A pattern does not count if it matches the path that the author named, too. Below that, folders
    that skilldrop writes to, such as its packages, are left out.
    """
    if any(
        matches(lines, folder, f"{path}/SKILL.md") and not matches(lines, folder, f"{named}/")
        for folder, lines in patterns
    ):
        return True
    inside = path.removeprefix(f"{named}/").split("/") if path != named else []
    return any(_is_ours("/".join((named, *inside[:depth]))) for depth in range(1, len(inside)))


@lru_cache(4096)
def _is_ours(folder: str) -> bool:
    return os.path.isfile(f"{folder}/{MARKER}")


def has_file_of_other(root: Path, folder: str, path: str) -> bool:
    """Return whether a path, relative to a skill folder of a root, is in a skill beside or in it.

    It may be a file or a folder. Skills in archives have no others here.
    """
    if archive_of(folder) is not None:
        return False
    around = join(dirname(folder) if path.startswith("../") else folder, "")
    place = linked(f"{folder}/", path)
    name = place.removeprefix(around).partition("/")[0]
    if not place.startswith(around) or name in ("", ".."):
        return False
    other = root / os_path(around + name)
    if not is_skill_folder(other):
        return False
    real = os.path.realpath(root / os_path(place))
    return os.path.exists(real) and Path(real).is_relative_to(os.path.realpath(other))

"""Places that an author names, and the paths in them that are left out."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from posixpath import dirname, join

from catalog.filesystem.ownership import MARKER
from catalog.model import paths as model_paths
from catalog.model.errors import RootUnreadable
from catalog.model.paths import archive_of, is_archive, linked, os_path
from pipeline.authoring.selection import matches
from pipeline.roots import ignore_files
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.codes import ARCHIVE_UNREADABLE, OUTSIDE_SKILLS
from pipeline.roots.file_kinds import is_skill_md
from pipeline.roots.ignore_files import GITIGNORE, SKILLIGNORE, IgnoreFile, IgnoreFileRefused
from pipeline.roots.local.folder import Archive, Folder, Limits, LooseFinding, Result
from pipeline.roots.source import is_skill_folder, open_source


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

    def entries(self, limits: Limits) -> list[Result]:
        """Return its skill folders, archives and loose findings, in the order of names."""
        with open_source(self.root, limits) as source:
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
    elif not path.is_dir():
        if path.is_file() and is_archive(path.name):
            file = Path(os.path.realpath(path))
            name = model_paths.text_path(str(path))
            return SearchedPlace(name, file.parent, f"{model_paths.text_path(file.name)}!", alone)
        name = model_paths.text_path(str(path))
        raise RootUnreadable(f"{name} is neither a folder, an archive nor a SKILL.md.")
    # Links are resolved: a skill has the name of its real folder.
    folder, name = Path(os.path.realpath(path)), model_paths.text_path(str(path))
    if is_skill_folder(folder):
        return SearchedPlace(name, folder.parent, model_paths.text_path(folder.name), alone)
    return SearchedPlace(name, folder, "", False)


_FILES = (SKILLIGNORE, GITIGNORE, ".git/info/exclude")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Patterns relative to folders, and whether a path named by the author can be excluded."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()  # a folder's real path and patterns
    force: bool = False
    _above: dict[tuple[str, str | None], tuple[IgnoreFile, ...]] = field(
        default_factory=dict, init=False, compare=False
    )

    def excludes(self, path: str, named: str) -> bool:
        """Return whether the skill at a path is excluded.

        Both are real paths. `named` is the path that the author named, or one above it; unless
        `force` is set, it is never excluded itself.
        """
        above = _below(path, "" if self.force else named)
        if any(self._is_excluded_folder(folder) for folder in above):
            return True
        return self._matches(f"{path}/SKILL.md") and (self.force or path != named)

    def _is_excluded_folder(self, path: str) -> bool:
        if _is_ours(os.path.dirname(path)):
            return True
        return self._matches(path.removesuffix("!") if path.endswith("!") else f"{path}/")

    def _matches(self, path: str) -> bool:
        if any(matches(patterns, folder, path) for folder, patterns in self.patterns):
            return True
        folder = os.path.dirname(path.rstrip("/"))
        decision = ignore_files.decide(self._files_above(folder, _work_tree(folder)), path)
        return decision is not None and decision.is_ignored

    def _files_above(self, folder: str, top: str | None) -> tuple[IgnoreFile, ...]:
        """Return the ignore files in a folder and above it, the nearest first.

        Those of git count up to the top of the work tree.
        """
        if (known := self._above.get((folder, top))) is not None:
            return known
        in_git = top and f"{folder}/".startswith(f"{top}/")
        files: list[IgnoreFile] = []
        for name in _FILES if in_git else (SKILLIGNORE,):
            with suppress(OSError, IgnoreFileRefused):  # linting its own folder reports it
                files.append(ignore_files.parse(folder, name, Path(folder, name).read_bytes()))
        if (above := os.path.dirname(folder)) != folder:
            files += self._files_above(above, top)
        return self._above.setdefault((folder, top), tuple(files))


def _below(path: str, named: str) -> Iterator[str]:
    """Yield a path and those above it as far as the named one, which is not among them."""
    position = len(named) if path.startswith(f"{named}/") else len(path)
    while position < len(path):
        end = path.find("/", position + 1)
        position = len(path) if end < 0 else end
        yield path[:position]


@lru_cache(4096)
def _is_ours(folder: str) -> bool:
    """Return whether skilldrop writes to a folder: its packages and indexes."""
    return os.path.isfile(f"{folder}/{MARKER}")


@lru_cache(4096)
def _work_tree(folder: str) -> str | None:
    """Return the top of the work tree of git around a folder; None outside of one."""
    if os.path.lexists(f"{folder}/.git"):
        return folder
    above = os.path.dirname(folder)
    return None if above == folder else _work_tree(above)


def has_sibling_file(root: Path, folder: str, path: str) -> bool:
    """Return whether a path, relative to a skill folder of a root, is in a skill beside that one.

    It may be a file or a folder. Skills in archives have no siblings here.
    """
    if not path.startswith("../") or archive_of(folder) is not None:
        return False
    beside = join(dirname(folder), "")
    place = linked(f"{folder}/", path)
    name = place.removeprefix(beside).partition("/")[0]
    if not place.startswith(beside) or name in ("", ".."):
        return False
    sibling = root / os_path(beside + name)
    if not is_skill_folder(sibling):
        return False
    real = os.path.realpath(root / os_path(place))
    return os.path.exists(real) and Path(real).is_relative_to(os.path.realpath(sibling))

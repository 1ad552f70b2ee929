"""Exclusion of paths from linting: patterns, ignore files and folders made by skilldrop."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from catalog.filesystem.ownership import MARKER
from pipeline.authoring.selection import matches
from pipeline.roots import ignore_files
from pipeline.roots.ignore_files import GITIGNORE, SKILLIGNORE, IgnoreFile, IgnoreFileRefused

_FILES = (SKILLIGNORE, GITIGNORE, ".git/info/exclude")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Patterns relative to folders, and whether a path named by the author can be excluded."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()  # a folder's real path and patterns
    gitignore: bool = True
    force: bool = False

    def excludes(self, path: str, named: str) -> bool:
        """Return whether the skill at a path is excluded.

        Both are real paths. `named` is the path that the author named, or one above it; unless
        `force` is set, it is never excluded itself, whatever lies above.
        """
        if any(
            self._is_excluded_folder(above) for above in _below(path, "" if self.force else named)
        ):
            return True
        return self._matches(f"{path}/SKILL.md") and (self.force or path != named)

    def _is_excluded_folder(self, path: str) -> bool:
        if _is_ours(os.path.dirname(path)):
            return True
        return self._matches(path.removesuffix("!") if path.endswith("!") else f"{path}/")

    def _matches(self, path: str) -> bool:
        if any(matches(patterns, folder, path) for folder, patterns in self.patterns):
            return True
        return _is_ignored(path, _FILES if self.gitignore else (SKILLIGNORE,))


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


def _is_ignored(path: str, names: tuple[str, ...]) -> bool:
    """Return whether the nearest ignore file with a matching pattern ignores a path."""
    decision = ignore_files.decide(_files_above(path.rstrip("/"), names), path)
    return decision is not None and decision.is_ignored


def _files_above(path: str, names: tuple[str, ...]) -> Iterator[IgnoreFile]:
    """Yield the ignore files in the folders above a path, the nearest first.

    Those of git count up to the top of the work tree.
    """
    folder = os.path.dirname(path)
    in_work_tree = _git_folders(folder)
    while True:
        for name in names if folder in in_work_tree else (SKILLIGNORE,):
            with suppress(OSError, IgnoreFileRefused):
                stat = os.stat(f"{folder}/{name}")
                yield _file(folder, name, stat.st_mtime_ns, stat.st_size)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


@lru_cache(4096)
def _git_folders(folder: str) -> frozenset[str]:
    """Return a folder and those above it up to the top of its work tree; none outside of one."""
    if os.path.lexists(f"{folder}/.git"):
        return frozenset((folder,))
    above = os.path.dirname(folder)
    folders = _git_folders(above) if above != folder else frozenset()
    return folders | {folder} if folders else folders


@lru_cache(4096)
def _file(folder: str, name: str, _time: int, _size: int) -> IgnoreFile:
    return ignore_files.parse(folder, name, Path(folder, name).read_bytes())

"""Exclusion of paths from linting: patterns, .gitignore files and folders made by skilldrop."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.filesystem.ownership import MARKER
from pipeline.authoring.selection import matches, spec_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_GIT_FILES = (".gitignore", ".git/info/exclude")


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
        return self.gitignore and _is_ignored_by_git(path)


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


def _is_ignored_by_git(path: str) -> bool:
    """Return whether the nearest .gitignore file with a matching pattern ignores a path."""
    for folder in _git_folders(os.path.dirname(path.rstrip("/"))):
        for spec in _git_specs(folder):
            if (result := spec.check_file(path[len(folder) + 1 :])).include is not None:
                return result.include
    return False


@lru_cache(4096)
def _git_folders(folder: str) -> tuple[str, ...]:
    """Return a folder and those above it up to the top of its work tree; none outside of one."""
    if os.path.lexists(f"{folder}/.git"):
        return (folder,)
    above = os.path.dirname(folder)
    folders = _git_folders(above) if above != folder else ()
    return (folder, *folders) if folders else ()


def _git_specs(folder: str) -> Iterator["GitIgnoreSpec"]:
    for name in _GIT_FILES:
        path = f"{folder}/{name}"
        with suppress(OSError):
            stat = os.stat(path)
            yield _git_spec(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(4096)
def _git_spec(path: str, _time: int, _size: int) -> "GitIgnoreSpec":
    return spec_of(tuple(Path(path).read_text("utf-8", "replace").splitlines()))

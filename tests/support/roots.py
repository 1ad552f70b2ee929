"""Roots that are opened for one call."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from catalog.model.errors import RootUnreadable
from pipeline.roots.local.folder import Folder, Limits, Result
from pipeline.roots.snapshot import Snapshot
from pipeline.roots.source import DEFAULT_LIMITS, open_source


def walk(root: Path, path: str = "", limits: Limits = DEFAULT_LIMITS) -> Iterator[Result]:
    """Yield what a walk finds at or below a path."""
    with open_source(root, limits) as source:
        yield from source.walk(path)


def look(root: Path, path: str, limits: Limits = DEFAULT_LIMITS) -> Folder | None:
    """Return the skill folder at a path; None if there is none."""
    with open_source(root, limits) as source:
        return source.folder(path)


def read(root: Path, folder: Folder, limits: Limits = DEFAULT_LIMITS) -> Snapshot | None:
    """Read a skill folder; None if it has changed since the walk."""
    with suppress(RootUnreadable), open_source(root, limits) as source:
        return source.read(folder)
    return None

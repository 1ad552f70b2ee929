"""Roots that are opened for one call."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from catalog.model.errors import RootUnreadable
from pipeline.roots.archives.reader import open_archive
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
    """Read a skill folder, perhaps in an archive; None if it has changed since the walk."""
    with suppress(RootUnreadable), open_source(root, limits) as source, ExitStack() as stack:
        if folder.content and (archive := source.archive(folder.path)):
            folders = stack.enter_context(open_archive(archive))
            folder = next((found for found in folders if found == folder), folder)
        return source.read(folder)
    return None

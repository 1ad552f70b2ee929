"""Opening of archives by their reader, which is imported for the first: most roots have none."""

from contextlib import AbstractContextManager

from pipeline.roots.local.folder import Folder
from pipeline.roots.local.tree_walk import Archive


def open_archive(archive: Archive) -> AbstractContextManager[list[Folder]]:
    """Open an archive; see `reader.open_archive`."""
    from pipeline.roots.archives import reader

    return reader.open_archive(archive)

"""Archives as the walk found them, and the folders that stand for rejected ones."""

from collections.abc import Iterator
from dataclasses import replace

from catalog.model.finding import Finding
from pipeline.roots.local.files import identity
from pipeline.roots.local.folder import Folder
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.tree_walk import Archive


def is_whole(archive: Archive, fingerprints: list[str]) -> bool:
    """Whether these are the fingerprints of all skill folders in an archive, as it is now."""
    return bool(fingerprints) and (set(fingerprints) == {seal(archive, len(fingerprints))})


def seal(archive: Archive, folders: int) -> str:
    """Return the fingerprint of each folder in an archive.

    It contains the number of folders, so that a reader that knows fewer reads the archive again.
    """
    return f"{archive.fingerprint}.{folders}"


def is_refused(folder: Folder) -> bool:
    """Whether a folder stands for a rejected archive, in which nothing is read."""
    return isinstance(folder.source, NoContent)


def refused_at(folder: Folder, paths: list[str]) -> list[Folder]:
    """Return the folder of a rejected archive for each path that the catalog has in it."""
    assert isinstance(folder.source, NoContent)
    fingerprint = seal(folder.source.archive, len(paths))
    return [replace(folder, path=path, fingerprint=fingerprint) for path in paths]


class NoContent:
    """Contents of a rejected archive: none."""

    is_open = True

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    @property
    def is_unchanged(self) -> bool:
        """Whether the archive is the file that was rejected; OSError."""
        return is_unchanged(self.archive)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Raise OSError."""
        raise OSError(f"{path} is in an archive that was rejected")


def rejected(archive: Archive, problem: Finding) -> Folder:
    """Return the folder of an archive that is rejected for a problem."""
    return Folder(archive.path, (), (), (problem,), "", 0, source=NoContent(archive))


def is_unchanged(archive: Archive) -> bool:
    """Whether the file is still the one that the walk saw; OSError."""
    with RootDirectory(archive.root) as root:
        return identity(root.stat(archive.file)) == identity(archive.stat)

"""Reader of skill folders inside archives, without unpacking the archives to disk."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO

from catalog.model.finding import Finding
from catalog.model.paths import os_path
from pipeline.roots import internal_errors
from pipeline.roots.archives.formats import ArchiveRejected, check_size, opened_entries
from pipeline.roots.archives.tree import ArchiveTree
from pipeline.roots.codes import (
    ARCHIVE_TOO_MANY_MEMBERS,
    ARCHIVE_UNREADABLE,
    ARCHIVE_WITHOUT_SKILL,
    FOLDER_TOO_DEEP,
    IGNORE_FILE_REFUSED,
    INTERNAL_ERROR,
)
from pipeline.roots.local.directory import Directory
from pipeline.roots.local.folder import Archive, Folder, LooseFinding
from pipeline.roots.local.root_directory import identity, opened_root
from pipeline.roots.local.walk import folders_in

_REFUSES = {kind.code for kind in (FOLDER_TOO_DEEP, IGNORE_FILE_REFUSED, INTERNAL_ERROR)}
"""Codes of findings about a directory for which nothing of its archive is read."""


@contextmanager
def open_archive(archive: Archive) -> Iterator[list[Folder]]:
    """Yield the skill folders in an archive, readable until the context ends.

    Every file of a skill has been read once before, so that none is damaged. A rejected archive
    yields one folder without files, with the reason as its problem. Raises OSError for an error
    of the system, or if the archive has changed since the walk.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(_opened(archive))
            entries = stack.enter_context(
                opened_entries(archive.file, file, archive.stat.st_size, archive.limits)
            )
            content = ArchiveContent(archive, ArchiveTree(entries, archive.limits))
            stack.callback(content.close)
            folders = content.folders()
        except ArchiveRejected as rejected:
            folders = [_rejected(archive, rejected.finding)]
        except PermissionError as error:
            finding = ARCHIVE_UNREADABLE.at(f"The archive cannot be read: {error.strerror}.")
            folders = [_rejected(archive, finding)]
        except Exception as error:
            if not internal_errors.is_internal(error):
                raise
            folders = [_rejected(archive, internal_errors.noted(archive.path, error))]
        yield [
            replace(
                folder,
                fingerprint=_seal(archive, len(folders)),
                changed_ns=archive.changed_ns,
                is_alias=archive.is_alias,
            )
            for folder in folders
        ]


def is_whole(archive: Archive, fingerprints: list[str]) -> bool:
    """Whether these are the fingerprints of all skill folders in an archive, as it is now."""
    return bool(fingerprints) and set(fingerprints) == {_seal(archive, len(fingerprints))}


def known_at(folders: list[Folder], paths: Sequence[str]) -> list[Folder]:
    """Return the folders of an archive; of a rejected one, its folder for each of some paths."""
    content = folders[0].content
    if not (isinstance(content, ArchiveContent) and content.is_refused):
        return folders
    fingerprint = _seal(content.archive, len(paths))
    return [replace(folders[0], path=path, fingerprint=fingerprint) for path in paths]


class ArchiveContent:
    """Contents of an open archive: its skill folders, and the bytes of their files.

    Without a tree, it stands for the contents of a rejected one: nothing.
    """

    def __init__(self, archive: Archive, tree: ArchiveTree | None = None) -> None:
        self.archive = archive
        self.is_refused = tree is None
        self._tree = tree

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is still the one that the walk saw; OSError."""
        with opened_root(self.archive.root) as root:
            return identity(root.stat(self.archive.file)) == identity(self.archive.stat)

    def close(self) -> None:
        """End reading."""
        self._tree = None

    def folders(self) -> list[Folder]:
        """Return the skill folders, after reading all files once; ArchiveRejected, OSError."""
        assert self._tree
        archive, limits = self.archive, self.archive.limits
        # As if behind a link: outside of skills, links to directories are not followed.
        depth = archive.path.count("/") + 1
        top = Directory("", archive.path, depth, links=1, around=archive.ignore_files)
        folders: list[Folder] = []
        entries = size = 0
        for result in folders_in(self._tree, top, limits):
            if isinstance(result, LooseFinding):
                if result.finding.code in _REFUSES:
                    raise ArchiveRejected(result.finding)
                continue
            # A file counts once for each link to it.
            entries += len(result.entries) + len(result.directories)
            size += sum(stat.st_size for _, stat in result.entries)
            if entries > limits.archive_members:
                raise ArchiveRejected(ARCHIVE_TOO_MANY_MEMBERS.at())
            check_size(size, archive.stat.st_size, limits)
            folders.append(replace(result, content=self))
        if not folders:
            raise ArchiveRejected(ARCHIVE_WITHOUT_SKILL.at())
        for folder in folders:
            for path, _ in () if folder.exceeds_limits else folder.entries:
                for _ in self._chunks(f"{folder.path}/{path}"):
                    pass
        return folders

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, whose path is relative to the root; OSError."""
        try:
            yield from self._chunks(path)
        except ArchiveRejected as rejected:  # though it was sound when it was opened
            raise OSError(rejected.finding.message) from rejected

    def _chunks(self, path: str) -> Iterator[bytes]:
        if self._tree is None:
            raise OSError(f"{self.archive.file} is not open")
        return self._tree.chunks(os_path(path[len(self.archive.path) :]))


def _rejected(archive: Archive, problem: Finding) -> Folder:
    """Return the folder that stands for an archive that is rejected for a problem."""
    return Folder(archive.path, (), (), (problem,), "", 0, content=ArchiveContent(archive))


def _seal(archive: Archive, folders: int) -> str:
    """Return the fingerprint of each folder in an archive.

    It contains the number of folders, so that a reader that knows fewer reads the archive again.
    """
    return f"{archive.fingerprint}.{folders}"


def _opened(archive: Archive) -> IO[bytes]:
    """Open the file that the walk saw; OSError."""
    with opened_root(archive.root) as root:
        return open(root.file(root.resolved(archive.file), archive.stat), "rb")

"""Reader of skill folders inside archives, without unpacking the archives to disk."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import IO

from catalog.model.finding import Finding
from catalog.model.paths import os_path
from pipeline.roots import internal_errors
from pipeline.roots.archives import refusal
from pipeline.roots.archives.codes import (
    ARCHIVE_TOO_LARGE,
    ARCHIVE_TOO_MANY_MEMBERS,
    ARCHIVE_TRUNCATED,
    ARCHIVE_UNREADABLE,
    ARCHIVE_WITHOUT_SKILL,
)
from pipeline.roots.archives.entries import ArchiveEntries, ArchiveRejected, check_size
from pipeline.roots.archives.tar_file import open_tar
from pipeline.roots.archives.tree import ArchiveTree
from pipeline.roots.archives.zip_file import open_zip
from pipeline.roots.codes import FOLDER_TOO_DEEP, IGNORE_FILE_REFUSED, INTERNAL_ERROR
from pipeline.roots.local.directory import Directory
from pipeline.roots.local.files import open_expected
from pipeline.roots.local.folder import Folder, hard_link
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.tree_walk import Archive, LooseFinding
from pipeline.roots.local.walk import folders_in

_ZIPS = (".zip", ".skill")
_GZIPS = (".gz", ".tgz")
_REFUSES = {kind.code for kind in (FOLDER_TOO_DEEP, IGNORE_FILE_REFUSED, INTERNAL_ERROR)}
"""Codes of findings about a directory for which nothing of its archive is read."""


@contextmanager
def open_archive(archive: Archive) -> Iterator[list[Folder]]:
    """Yield the skill folders in an archive, readable until the context ends.

    Every file of a skill has been read once before, so that none is damaged. A rejected archive
    yields one folder without files, with the reason as its problem. Raises OSError for an error
    of the system, or if the archive has changed since the walk.
    """
    hard_links: tuple[Finding, ...] = ()
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(_descriptor(archive), "rb"))
            hard_links = _hard_links(archive)
            source = _ArchiveContent(archive, stack.enter_context(_open(archive, file)))
            stack.callback(source.close)
            folders = source.folders()
        except ArchiveRejected as rejected:
            folders = [refusal.rejected(archive, rejected.finding)]
        except PermissionError as error:
            folders = [
                refusal.rejected(
                    archive,
                    ARCHIVE_UNREADABLE.at(f"The archive cannot be read: {error.strerror}."),
                )
            ]
        except Exception as error:
            if not internal_errors.is_internal(error):
                raise
            folders = [refusal.rejected(archive, internal_errors.noted(archive.path, error))]
        seal = refusal.seal(archive, len(folders))
        yield [
            replace(
                folder,
                fingerprint=seal,
                changed_ns=archive.changed_ns,
                is_alias=archive.is_alias,
                problems=(*folder.problems, *hard_links),
            )
            for folder in folders
        ]


def _hard_links(archive: Archive) -> tuple[Finding, ...]:
    """Return the finding about hard links to an archive; ArchiveRejected if none are allowed."""
    links = archive.stat.st_nlink
    if links < 2:
        return ()
    finding = hard_link(
        archive.limits,
        None,
        f"The archive is a file with {links:,} hard links, some of them perhaps outside the root.",
    )
    if archive.limits.hard_links == "reject":
        raise ArchiveRejected(finding)
    return (finding,)


def _descriptor(archive: Archive) -> int:
    """Return the descriptor of the file that the walk saw; OSError."""
    with RootDirectory(archive.root) as root:
        return open_expected(root, archive.file, archive.stat)


def _open(archive: Archive, file: IO[bytes]) -> AbstractContextManager[ArchiveEntries]:
    """Open an archive as a zip or a tar, as its name says; ArchiveRejected, OSError."""
    size, limits = archive.stat.st_size, archive.limits
    if not size:
        raise ArchiveRejected(ARCHIVE_TRUNCATED.at("The archive is empty."))
    if size > limits.archive_bytes:
        raise ArchiveRejected(
            ARCHIVE_TOO_LARGE.at(
                f"The archive has {size:,} bytes; the limit is {limits.archive_bytes:,}."
            )
        )
    if archive.file.lower().endswith(_ZIPS):
        return open_zip(file, size, limits)
    return open_tar(file, limits, is_compressed=archive.file.lower().endswith(_GZIPS))


class _ArchiveContent:
    """Contents of an open archive: its skill folders, and the bytes of their files."""

    def __init__(self, archive: Archive, entries: ArchiveEntries | None) -> None:
        self._archive = archive
        self._entries = entries
        self._tree: ArchiveTree | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can still be read."""
        return self._entries is not None

    @property
    def is_unchanged(self) -> bool:
        """Whether the archive is the file that was opened; OSError."""
        return refusal.is_unchanged(self._archive)

    def close(self) -> None:
        """End reading."""
        self._entries = self._tree = None

    def folders(self) -> list[Folder]:
        """Return the skill folders, after reading all files once; ArchiveRejected, OSError."""
        assert self._entries
        archive, limits = self._archive, self._archive.limits
        self._tree = ArchiveTree(self._entries, limits)
        # As if behind a link: outside of skills, links to directories are not followed.
        depth = archive.path.count("/") + 1
        top = Directory("", archive.path, depth, links=1, ignore_files=archive.ignore_files)
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
            folders.append(replace(result, source=self))
        if not folders:
            raise ArchiveRejected(ARCHIVE_WITHOUT_SKILL.at())
        self._verify(folders)
        return folders

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, whose path is relative to the root; OSError."""
        try:
            yield from self._chunks(path)
        except ArchiveRejected as rejected:  # though it was sound when it was opened
            raise OSError(rejected.finding.message) from rejected

    def _chunks(self, path: str) -> Iterator[bytes]:
        if self._entries is None or self._tree is None:
            raise OSError(f"{self._archive.file} is closed")
        inner = os_path(path[len(self._archive.path) :])
        return self._entries.chunks(self._tree.file(inner))

    def _verify(self, folders: list[Folder]) -> None:
        """Read all files once; ArchiveRejected, OSError."""
        for folder in folders:
            if not folder.exceeds_limits:
                for path, _ in folder.entries:
                    for _ in self._chunks(f"{folder.path}/{path}"):
                        pass

"""Reader of archives in place: skill folders in them, as if they were on disk."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import IO

from catalog.model.finding import Finding
from catalog.model.paths import os_path
from pipeline.roots.archives import tar_file, zip_file
from pipeline.roots.archives.codes import (
    ARCHIVE_TOO_LARGE,
    ARCHIVE_TOO_MANY_MEMBERS,
    ARCHIVE_TRUNCATED,
    ARCHIVE_UNREADABLE,
    ARCHIVE_WITHOUT_SKILL,
)
from pipeline.roots.archives.members import ArchiveEntries, ArchiveRejected, check_size
from pipeline.roots.archives.tree import ArchiveTree
from pipeline.roots.codes import FOLDER_TOO_DEEP
from pipeline.roots.local.descent import Archive, LooseFinding
from pipeline.roots.local.directory import Directory
from pipeline.roots.local.files import identity, opened
from pipeline.roots.local.folder import Folder, hard_link
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.walk import folders_in

_ZIPS = (".zip", ".skill")


@contextmanager
def open_archive(archive: Archive) -> Iterator[list[Folder]]:
    """Yield the skill folders in an archive, which can be read until the context ends.

    All that belongs to a skill has been read once by then, so that nothing in it is damaged.
    A refused archive is one folder without files, whose problem says why. Raises OSError for
    what is wrong with the machine, or where the archive is no longer as it was seen.
    """
    hard_links: tuple[Finding, ...] = ()
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(_descriptor(archive), "rb"))
            hard_links = _hard_links(archive)
            source = _Source(archive, stack.enter_context(_opened(archive, file)))
            stack.callback(source.close)
            found = source.folders()
        except ArchiveRejected as refused:
            found = [_refused(archive, refused.finding)]
        except PermissionError as error:
            found = [
                _refused(
                    archive,
                    ARCHIVE_UNREADABLE.at(f"The archive cannot be read: {error.strerror}."),
                )
            ]
        seal = _seal(archive, len(found))
        yield [
            replace(
                folder,
                fingerprint=seal,
                changed_ns=archive.changed_ns,
                is_alias=archive.is_alias,
                problems=(*folder.problems, *hard_links),
            )
            for folder in found
        ]


def _hard_links(archive: Archive) -> tuple[Finding, ...]:
    """Return the finding about other names of an archive; ArchiveRejected where none may be."""
    names = archive.stat.st_nlink
    if names < 2:
        return ()
    found = hard_link(
        archive.limits,
        None,
        (f"The archive is one file with {names:,} names, some of them perhaps outside the root."),
    )
    if archive.limits.hard_links == "reject":
        raise ArchiveRejected(found)
    return (found,)


def _descriptor(archive: Archive) -> int:
    """Return the descriptor of the file that the walk saw; OSError."""
    with RootDirectory(archive.root) as root:
        return opened(root, archive.file, archive.stat)


def _is_as_seen(archive: Archive) -> bool:
    """Tell whether the file is still the one that the walk saw; OSError."""
    with RootDirectory(archive.root) as root:
        return identity(root.stat(archive.file)) == identity(archive.stat)


def _opened(archive: Archive, file: IO[bytes]) -> AbstractContextManager[ArchiveEntries]:
    """Open an archive, which is a zip or a tar as its name says; ArchiveRejected, OSError."""
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
        return zip_file.opened(file, size, limits)
    return tar_file.opened(file, limits)


def is_whole(archive: Archive, fingerprints: list[str]) -> bool:
    """Tell whether these are the fingerprints of all that is in an archive, as it is now."""
    return bool(fingerprints) and (set(fingerprints) == {_seal(archive, len(fingerprints))})


def _seal(archive: Archive, folders: int) -> str:
    """Return the fingerprint of each folder in an archive.

    It contains the number of folders, so that a reader that knows fewer reads the archive again.
    """
    return f"{archive.fingerprint}.{folders}"


def is_refused(folder: Folder) -> bool:
    """Whether a folder stands for a rejected archive, in which nothing is read."""
    return isinstance(folder.source, _Refusal)


def refused_at(folder: Folder, paths: list[str]) -> list[Folder]:
    """Return the folder of a rejected archive for each path that the catalog has in it."""
    assert isinstance(folder.source, _Refusal)
    seal = _seal(folder.source.archive, len(paths))
    return [replace(folder, path=path, fingerprint=seal) for path in paths]


class _Source:
    """Where the folders of an archive are read from, while it is open."""

    def __init__(self, archive: Archive, members: ArchiveEntries | None) -> None:
        self._archive = archive
        self._members = members
        self._tree: ArchiveTree | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can still be read."""
        return self._members is not None

    @property
    def is_as_seen(self) -> bool:
        """Whether the archive is the file that was opened; OSError."""
        return _is_as_seen(self._archive)

    def close(self) -> None:
        """Note that nothing more can be read."""
        self._members = self._tree = None

    def folders(self) -> list[Folder]:
        """Return the skill folders, having read all their files once; ArchiveRejected, OSError."""
        assert self._members
        archive, limits = self._archive, self._archive.limits
        self._tree = ArchiveTree(self._members, limits)
        # As behind a link: outside of skills, links between directories lead nowhere new.
        top = Directory("", archive.path, archive.path.count("/") + 1, links=1)
        found: list[Folder] = []
        members = size = 0
        for one in folders_in(self._tree, top, limits):
            if isinstance(one, LooseFinding):
                if one.finding.code == FOLDER_TOO_DEEP.code:
                    raise ArchiveRejected(one.finding)
                continue
            # A file that many links lead to counts for each of them.
            members += len(one.entries) + len(one.directories)
            size += sum(stat.st_size for _, stat in one.entries)
            if members > limits.archive_members:
                raise ArchiveRejected(ARCHIVE_TOO_MANY_MEMBERS.at())
            check_size(size, archive.stat.st_size, limits)
            found.append(replace(one, source=self))
        if not found:
            raise ArchiveRejected(ARCHIVE_WITHOUT_SKILL.at())
        self._verify(found)
        return found

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file, whose path is relative to the root; OSError."""
        try:
            yield from self._chunks(path)
        except ArchiveRejected as refused:
            raise OSError(refused.finding.message) from refused  # it was well when it was found

    def _chunks(self, path: str) -> Iterator[bytes]:
        if self._members is None or self._tree is None:
            raise OSError(f"{self._archive.file} is closed")
        inner = os_path(path[len(self._archive.path) :])
        return self._members.chunks(self._tree.member(inner))

    def _verify(self, found: list[Folder]) -> None:
        for folder in found:
            if not folder.exceeds_limits:
                for path, _ in folder.entries:
                    for _ in self._chunks(f"{folder.path}/{path}"):
                        pass


class _Refusal:
    """Where there is nothing to read."""

    is_open = True

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    @property
    def is_as_seen(self) -> bool:
        """Whether the archive is the file that was refused; OSError."""
        return _is_as_seen(self.archive)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Raise OSError."""
        raise OSError(f"{path} is in an archive that was refused")


def _refused(archive: Archive, problem: Finding) -> Folder:
    return Folder(archive.path, (), (), (problem,), "", 0, source=_Refusal(archive))

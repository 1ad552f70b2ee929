"""Tree of directories that a walk can read, built from the names of an archive's entries."""

import errno
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from stat import S_IFDIR, S_ISDIR, S_ISLNK, S_ISREG

from catalog.model.finding import FindingType
from catalog.text.visible import quoted
from pipeline.roots.archives.formats import ArchiveEntry, ArchiveRejected
from pipeline.roots.codes import (
    ARCHIVE_DUPLICATE_MEMBER,
    ARCHIVE_LINK_LEAVES,
    ARCHIVE_PATH_UNSAFE,
    ARCHIVE_TOO_MANY_MEMBERS,
    LINK_DANGLING,
    LINK_LEAVES_ROOT,
    LINK_LOOP,
)
from pipeline.roots.local.directory import Listing, Target, Targets
from pipeline.roots.local.folder import Limits
from pipeline.roots.local.root_directory import without_links

_PATH_BYTES = 1024  # of an entry; a package adds directories above it
_NAME_BYTES = 255
_STEPS = 256  # names on the way to the target of a link, at most
_UNSAFE = re.compile(r"/|[A-Za-z]:|.*[\\\0]", re.DOTALL)


@dataclass(slots=True)
class _Node:
    """Entry, or a directory that only appears in the paths of entries."""

    number: int
    entry: ArchiveEntry | None
    children: list[str] = field(default_factory=list)

    @property
    def mode(self) -> int:
        return self.entry.mode if self.entry else S_IFDIR | 0o755

    def stat(self) -> os.stat_result:
        size = self.entry.size if self.entry else 0
        times = {"st_atime_ns": 0, "st_mtime_ns": 0, "st_ctime_ns": 0}
        return os.stat_result((self.mode, self.number, 0, 1, 0, 0, size, 0, 0, 0), times)


class ArchiveTree:
    """Entries by path. Paths start with a slash; the top is the empty path."""

    def __init__(self, entries: Iterable[ArchiveEntry], limits: Limits) -> None:
        """Take the entries of an open archive; ArchiveRejected if they form no safe tree."""
        self._nodes = {"": _Node(0, None)}
        self._folded = {""}
        self._limit = limits.archive_members
        for entry in entries:
            self._add(entry)
        for path, node in self._nodes.items():
            if S_ISLNK(node.mode) and self._target(path, "") is LINK_LEAVES_ROOT:
                raise ArchiveRejected(
                    ARCHIVE_LINK_LEAVES.at(f"The link {quoted(path[1:])} leads out of the archive.")
                )

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of the file that a path leads to; OSError, ArchiveRejected."""
        real = self._real(path)
        entry = None if real is None else self._nodes[real].entry
        if entry is None or not S_ISREG(entry.mode):
            raise FileNotFoundError(path)
        return entry.chunks()

    # The interface of a walk, which takes paths without links from earlier results

    def listing(self, path: str) -> Listing:
        """List a directory."""
        listing = Listing()
        for name in self._nodes[path].children:
            listing.add(name, self._nodes[f"{path}/{name}"].mode)
        return listing

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a file or directory."""
        return self._nodes[path].stat()

    def head(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file, at most `most`; OSError, ArchiveRejected."""
        head = b""
        for chunk in self.chunks(path):
            head += chunk
            if len(head) >= most:
                break
        return head[:most]

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of links, all of them inside the archive."""
        return {name: self._target(directory, name) for name in names}

    def _target(self, directory: str, name: str) -> Target | FindingType:
        """Return the target of a link, or the type of the finding about it."""
        try:
            real = self._real(f"{directory}/{name}")
        except OSError as error:
            return LINK_LOOP if error.errno == errno.ELOOP else LINK_DANGLING
        return LINK_LEAVES_ROOT if real is None else Target(self._nodes[real].stat(), real)

    def _real(self, path: str) -> str | None:
        """Return a path with its links resolved; None if it leads out of the archive. OSError."""
        if path in self._nodes and not S_ISLNK(self._nodes[path].mode):
            return path
        return without_links(path, _STEPS, self._link, lambda _: None)

    def _link(self, directory: str, name: str) -> str | None:
        """Return the text of a link; None if the name is no link. Raises OSError."""
        node = self._nodes.get(f"{directory}/{name}")
        if node is None:
            raise FileNotFoundError(f"{directory}/{name}")
        return node.entry.target if node.entry else None

    # Building

    def _add(self, entry: ArchiveEntry) -> None:
        path = _path(entry.name)
        node = self._nodes.get(path)
        if node is None:
            self._add_node(path, entry)
        elif not (S_ISDIR(node.mode) and S_ISDIR(entry.mode)):
            raise ArchiveRejected(
                ARCHIVE_DUPLICATE_MEMBER.at(f"{quoted(path[1:])} is the path of two entries.")
            )

    def _add_node(self, path: str, entry: ArchiveEntry | None) -> None:
        """Add a node, and the missing directories above it."""
        parent, _, name = path.rpartition("/")
        above = self._nodes.get(parent)
        if above is None:
            self._add_node(parent, None)
            above = self._nodes[parent]
        if not S_ISDIR(above.mode):
            raise ArchiveRejected(
                ARCHIVE_DUPLICATE_MEMBER.at(
                    f"{quoted(parent[1:])} is both a directory and a file or link."
                )
            )
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in self._folded:
            raise ArchiveRejected(
                ARCHIVE_DUPLICATE_MEMBER.at(
                    f"{quoted(path[1:])} differs from another path only in case or in Unicode "
                    "normalization."
                )
            )
        self._folded.add(folded)
        above.children.append(name)
        self._nodes[path] = _Node(len(self._nodes), entry)
        if len(self._nodes) > self._limit + 1:  # the top does not count
            raise ArchiveRejected(
                ARCHIVE_TOO_MANY_MEMBERS.at(
                    f"The archive contains more than {self._limit:,} files and directories."
                )
            )


def _path(name: str) -> str:
    """Return the path of an entry in the tree; ArchiveRejected if it is unsafe."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if _UNSAFE.match(name) or ".." in parts:
        raise ArchiveRejected(
            ARCHIVE_PATH_UNSAFE.at(
                f"The path {quoted(name)} leads out of the archive, at least on some systems."
            )
        )
    path = "".join(f"/{part}" for part in parts)
    if len(path.encode()) > _PATH_BYTES or any(len(p.encode()) > _NAME_BYTES for p in parts):
        raise ArchiveRejected(ARCHIVE_PATH_UNSAFE.at(f"The path {quoted(name)} is too long."))
    return path

"""Tree of directories that a walk can read, built from the names of an archive's entries."""

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
    ARCHIVE_NAMES_COLLIDE,
    ARCHIVE_PATH_UNSAFE,
    ARCHIVE_TOO_MANY_MEMBERS,
    LINK_DANGLING,
    LINK_LEAVES_ROOT,
    LINK_LOOP,
)
from pipeline.roots.local.directory import Listing, Target, Targets
from pipeline.roots.local.folder import Limits

_PATH_BYTES = 1024  # of an entry; a package adds directories above it
_NAME_BYTES = 255
_STEPS = 256  # names on the way to the target of a link, at most …
_LINKS = 16  # … and links
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


class _LeadsNowhere(Exception):
    """Path that leads to nothing, with the type of the finding about it."""

    def __init__(self, kind: FindingType) -> None:
        super().__init__(kind.code)
        self.kind = kind


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
        node = self._nodes[self._existing(path)]
        if node.entry is None or not S_ISREG(node.mode):
            raise FileNotFoundError(path)
        return node.entry.chunks()

    # The interface of a walk

    def listing(self, path: str, only: str | None = None) -> Listing:
        """List a directory; OSError."""
        listing = Listing()
        real = self._existing(path)
        for name in self._nodes[real].children:
            if only is None or only == name:
                listing.add(name, self._nodes[f"{real}/{name}"].mode)
        return listing

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a file or directory; OSError."""
        return self._nodes[self._existing(path)].stat()

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
        except _LeadsNowhere as nowhere:
            return nowhere.kind
        return Target(self._nodes[real].stat(), real)

    def _existing(self, path: str) -> str:
        try:
            return self._real(path)
        except _LeadsNowhere as nowhere:
            raise FileNotFoundError(path) from nowhere

    def _real(self, path: str) -> str:
        """Return a path with its links resolved."""
        if path in self._nodes and not S_ISLNK(self._nodes[path].mode):
            return path
        resolved, remaining, links = "", path.split("/")[::-1], 0
        for _ in range(_STEPS):
            if not remaining:
                return resolved
            name = remaining.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not resolved:
                    raise _LeadsNowhere(LINK_LEAVES_ROOT)
                resolved = resolved.rpartition("/")[0]
                continue
            node = self._nodes.get(f"{resolved}/{name}")
            if node is None:
                raise _LeadsNowhere(LINK_DANGLING)
            if S_ISLNK(node.mode):
                target = (node.entry and node.entry.target) or ""
                if target.startswith("/"):
                    raise _LeadsNowhere(LINK_LEAVES_ROOT)
                links += 1
                remaining += target.split("/")[::-1]
                if links > _LINKS or len(remaining) > _STEPS:
                    break
            elif S_ISREG(node.mode) and remaining:
                raise _LeadsNowhere(LINK_DANGLING)
            else:
                resolved = f"{resolved}/{name}"
        raise _LeadsNowhere(LINK_LOOP)

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
                ARCHIVE_NAMES_COLLIDE.at(
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

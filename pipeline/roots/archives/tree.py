"""The directories in an archive, made from the names of its members, for a walk to go through."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from stat import S_IFDIR, S_ISDIR, S_ISLNK, S_ISREG

from catalog.model.finding import FindingType
from catalog.text.quoting import quoted
from pipeline.roots.archives.codes import (
    ARCHIVE_DUPLICATE_MEMBER,
    ARCHIVE_LINK_LEAVES,
    ARCHIVE_NAMES_COLLIDE,
    ARCHIVE_PATH_UNSAFE,
    ARCHIVE_TOO_MANY_MEMBERS,
)
from pipeline.roots.archives.members import ArchiveEntry, ArchiveRejected
from pipeline.roots.codes import LINK_DANGLING, LINK_LEAVES_ROOT, LINK_LOOP
from pipeline.roots.local.directory import Listing
from pipeline.roots.local.folder import Limits, Target, Targets
from pipeline.roots.names import is_junk, is_skill_md

_PATH_BYTES = 1024  # of a member; a package adds folders of its own
_NAME_BYTES = 255
_STEPS = 256  # names that may be passed on the way that a link leads …
_LINKS = 16  # … and links
_UNSAFE = re.compile(r"/|[A-Za-z]:|.*[\\\0]", re.DOTALL)


@dataclass(slots=True)
class _Node:
    """A member, or a directory that only the paths of others tell of."""

    number: int
    member: ArchiveEntry | None
    children: list[str] = field(default_factory=list)

    @property
    def mode(self) -> int:
        return self.member.mode if self.member else S_IFDIR | 0o755

    def stat(self) -> os.stat_result:
        size = self.member.size if self.member else 0
        times = {"st_atime_ns": 0, "st_mtime_ns": 0, "st_ctime_ns": 0}
        return os.stat_result((self.mode, self.number, 0, 1, 0, 0, size, 0, 0, 0), times)


class _LeadsNowhere(Exception):
    """A path ends before its end, for the reason that the finding says."""

    def __init__(self, kind: FindingType) -> None:
        super().__init__(kind.code)
        self.kind = kind


class ArchiveTree:
    """The members by their paths, which start with a slash; the top is the empty path."""

    def __init__(self, members: Iterable[ArchiveEntry], limits: Limits) -> None:
        """Take the members of an open archive; ArchiveRejected where they make no tree we like."""
        self._nodes = {"": _Node(0, None)}
        self._folded = {""}
        self._limit = limits.archive_members
        for member in members:
            self._take(member)
        for path, node in self._nodes.items():
            if S_ISLNK(node.mode) and self._follow(path) is LINK_LEAVES_ROOT:
                raise ArchiveRejected(
                    ARCHIVE_LINK_LEAVES.at(f"The link {quoted(path[1:])} leads out of the archive.")
                )

    def member(self, path: str) -> ArchiveEntry:
        """Return the file that a path leads to; OSError."""
        try:
            node = self._nodes[self._real(path)]
        except _LeadsNowhere as nowhere:
            raise FileNotFoundError(path) from nowhere
        if node.member is None or not S_ISREG(node.mode):
            raise FileNotFoundError(path)
        return node.member

    # What a walk asks for

    def listing(self, path: str, files: int) -> Listing:
        """List a directory, keeping at most so many files and any SKILL.md; OSError."""
        found = Listing()
        real = self._directory(path)
        for name in self._nodes[real].children:
            if is_junk(name):
                continue
            if is_skill_md(name):
                found.skill_mds.append(name)
            node = self._nodes[f"{real}/{name}"]
            if S_ISDIR(node.mode):
                found.directories.append(name)
            elif S_ISREG(node.mode):
                found.file_count += 1
                if found.file_count <= files or is_skill_md(name):
                    found.files.append(name)
            else:
                found.others.append(name)
        found.skill_mds.sort()
        return found

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a directory; OSError."""
        return self._nodes[self._directory(path)].stat()

    def stats(self, path: str) -> Callable[[str], os.stat_result]:
        """Return what gives the stats of files in a directory by name; OSError."""
        real = self._directory(path)
        return lambda name: self._nodes[f"{real}/{name}"].stat()

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return where links lead, all of them inside the archive."""
        return {name: self._target(directory, name) for name in names}

    def _directory(self, path: str) -> str:
        try:
            return self._real(path)
        except _LeadsNowhere as nowhere:
            raise FileNotFoundError(path) from nowhere

    def _target(self, directory: str, name: str) -> Target | FindingType:
        try:
            real = self._real(f"{directory}/{name}")
        except _LeadsNowhere as nowhere:
            return nowhere.kind
        return Target(self._nodes[real].stat(), real)

    def _follow(self, path: str) -> str | FindingType:
        """Return the path behind a link, or the type of the finding that says why there is none."""
        try:
            return self._real(path)
        except _LeadsNowhere as nowhere:
            return nowhere.kind

    def _real(self, path: str) -> str:
        """Return a path without the links on its way."""
        if path in self._nodes and not S_ISLNK(self._nodes[path].mode):
            return path
        at, todo, links = "", path.split("/")[::-1], 0
        for _ in range(_STEPS):
            if not todo:
                return at
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not at:
                    raise _LeadsNowhere(LINK_LEAVES_ROOT)
                at = at.rpartition("/")[0]
                continue
            node = self._nodes.get(f"{at}/{name}")
            if node is None:
                raise _LeadsNowhere(LINK_DANGLING)
            if S_ISLNK(node.mode):
                target = (node.member and node.member.target) or ""
                if target.startswith("/"):
                    raise _LeadsNowhere(LINK_LEAVES_ROOT)
                links += 1
                todo += target.split("/")[::-1]
                if links > _LINKS or len(todo) > _STEPS:
                    break
            elif S_ISREG(node.mode) and todo:
                raise _LeadsNowhere(LINK_DANGLING)
            else:
                at = f"{at}/{name}"
        raise _LeadsNowhere(LINK_LOOP)

    # How it is made

    def _take(self, member: ArchiveEntry) -> None:
        path = _path(member.name)
        known = self._nodes.get(path)
        if known is None:
            self._add(path, member)
        elif not (S_ISDIR(known.mode) and S_ISDIR(member.mode)):
            raise ArchiveRejected(
                ARCHIVE_DUPLICATE_MEMBER.at(
                    f"{quoted(path[1:])} stands for two members of the archive."
                )
            )

    def _add(self, path: str, member: ArchiveEntry | None) -> None:
        """Add a node, and above it the directories that nothing has told of yet."""
        parent, _, name = path.rpartition("/")
        above = self._nodes.get(parent)
        if above is None:
            self._add(parent, None)
            above = self._nodes[parent]
        if not S_ISDIR(above.mode):
            raise ArchiveRejected(
                ARCHIVE_DUPLICATE_MEMBER.at(
                    f"{quoted(parent[1:])} is a directory, and something else as well."
                )
            )
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in self._folded:
            raise ArchiveRejected(
                ARCHIVE_NAMES_COLLIDE.at(
                    f"{quoted(path[1:])} differs from another path only in how its letters "
                    "are written."
                )
            )
        self._folded.add(folded)
        above.children.append(name)
        self._nodes[path] = _Node(len(self._nodes), member)
        if len(self._nodes) > self._limit + 1:  # the top is none
            raise ArchiveRejected(
                ARCHIVE_TOO_MANY_MEMBERS.at(
                    f"The archive holds more than {self._limit:,} files and directories."
                )
            )


def _path(name: str) -> str:
    """Return the path of an entry as the tree writes it; ArchiveRejected where it is unsafe."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if _UNSAFE.match(name) or ".." in parts:
        raise ArchiveRejected(
            ARCHIVE_PATH_UNSAFE.at(
                f"The path {quoted(name)} leads out of the archive, or would on some system."
            )
        )
    path = "".join(f"/{part}" for part in parts)
    if len(path.encode()) > _PATH_BYTES or any(len(p.encode()) > _NAME_BYTES for p in parts):
        raise ArchiveRejected(ARCHIVE_PATH_UNSAFE.at(f"The path {quoted(name)} is too long."))
    return path

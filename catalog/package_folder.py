"""The packages folder: which versions lie in it, which of them is current, and how they go."""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import NamedTuple

from catalog.file_names import os_path, text_path
from catalog.staging import PackageFile

log = logging.getLogger("skilldrop")

CURRENT = "current"
_BESIDE = ".current"  # what becomes `current` in one step; no version starts with a dot


class Shelf(NamedTuple):
    """What lies in the folder of one skill_id."""

    skill_id: str
    versions: frozenset[str]
    current: str | None  # where the link leads; empty where it is no link
    half_made: frozenset[str] = frozenset()  # what a crash left beside them


class PackageFolder:
    """All packages: `<skill_id>/<version>/`, and `<skill_id>/current`, a link to one of them."""

    def __init__(self, path: Path) -> None:
        """Take the folder; it need not exist yet."""
        self.path = path

    def make_room(self, package_path: str) -> None:
        """See to it that a package can be made: its shelf is there, and nothing half made."""
        shelf = f"{self.path}/{package_path.partition('/')[0]}"
        try:
            try:
                os.mkdir(shelf)
            except FileNotFoundError:
                os.makedirs(shelf, exist_ok=True)
            if S_IMODE(os.lstat(shelf).st_mode) != 0o755:  # who may enter is said further up
                os.chmod(shelf, 0o755)
        except FileExistsError:
            if os.path.isdir(shelf):
                remove(f"{self.path}/{package_path}")
            else:
                log.warning("%s was no directory; packages are made in its place", shelf)
                remove(shelf)
                self.make_room(package_path)

    def flip(self, package_path: str) -> None:
        """Let `current` lead to a package, in one step. Raises OSError."""
        skill_id, _, version = package_path.partition("/")
        shelf = f"{self.path}/{skill_id}"
        try:
            os.symlink(version, f"{shelf}/{CURRENT}")
        except FileExistsError:
            target = _target(f"{shelf}/{CURRENT}")
            if target == version:
                return
            if target is None:  # no link, so nothing of ours; a directory cannot be replaced
                remove(f"{shelf}/{CURRENT}")
            with suppress(FileNotFoundError):  # left by a crash
                os.unlink(f"{shelf}/{_BESIDE}")
            os.symlink(version, f"{shelf}/{_BESIDE}")
            os.replace(f"{shelf}/{_BESIDE}", f"{shelf}/{CURRENT}")

    def drop(self, package_path: str) -> None:
        """Remove a package, before it each `current` beside it that leads there. Raises OSError.

        The shelf goes with its last package.
        """
        skill_id, _, version = package_path.partition("/")
        shelf = f"{self.path}/{skill_id}"
        if _target(f"{shelf}/{CURRENT}") == version:
            os.unlink(f"{shelf}/{CURRENT}")
        remove(f"{self.path}/{package_path}")
        with suppress(OSError):  # not empty, or gone
            os.rmdir(shelf)

    def drop_current(self, skill_id: str) -> None:
        """Remove a link that leads to no version any more."""
        remove(f"{self.path}/{skill_id}/{CURRENT}")
        with suppress(OSError):
            os.rmdir(f"{self.path}/{skill_id}")

    def shelves(self) -> Iterator[Shelf]:
        """Yield what there is."""
        try:
            found = sorted(os.listdir(self.path))
        except FileNotFoundError:
            return
        for skill_id in found:
            shelf = f"{self.path}/{skill_id}"
            try:
                names = frozenset(os.listdir(shelf))
            except OSError:  # no folder, and none of ours
                continue
            half_made = frozenset(name for name in names if name.startswith("."))
            current = None
            if CURRENT in names:
                current = _target(f"{shelf}/{CURRENT}") or ""
            yield Shelf(skill_id, names - half_made - {CURRENT}, current, half_made)

    def is_whole(self, package_path: str, files: Sequence[PackageFile], *,
                 deep: bool = False) -> bool:
        """Tell whether a package holds just these files; see `damages`."""
        return next(self.damages(package_path, files, deep=deep), None) is None

    def damages(self, package_path: str, files: Sequence[PackageFile], *,
                deep: bool = False) -> Iterator[str]:
        """Yield in words where a package does not hold just these files.

        They are told by their sizes; if deep, by their hashes.
        """
        top = f"{self.path}/{package_path}"
        expected = {file.path: file for file in files}
        for path, stat in _files(top):
            file = expected.pop(path, None)
            if file is None:
                yield f"{path} is no file of this version"
            elif (not S_ISREG(stat.st_mode) or stat.st_size != file.size
                  or (deep and _sha256(f"{top}/{os_path(path)}") != file.sha256)):
                yield f"{path} is not as it was accepted"
        yield from (f"{path} is missing" for path in expected)


def remove(path: str) -> None:
    """Remove a file or a read-only tree; nothing is asked of what is not there."""
    if os.path.islink(path) or not os.path.isdir(path):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(path)
        return
    for folder, _, _ in os.walk(path):  # top down: it is listed after it was made writable
        os.chmod(folder, 0o700)
    shutil.rmtree(path)


def _target(link: str) -> str | None:
    try:
        return os.readlink(link)
    except OSError:
        return None


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path as text and stat of all but directories below a directory."""
    todo = [""]
    while todo:
        below = todo.pop()
        try:
            entries = list(os.scandir(f"{top}/{below}"))
        except OSError:
            continue
        for entry in entries:
            path = f"{below}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                todo.append(f"{path}/")
            else:
                with suppress(OSError):
                    yield text_path(path), entry.stat(follow_symlinks=False)


def _sha256(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None

"""The packages folder: which versions lie in it, which of them is current, and how they go."""

import ctypes
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from catalog.file_names import os_path, text_path
from catalog.staging import PackageFile

CURRENT = "current"
_BESIDE = ".current"  # what becomes `current` in one step; no version starts with a dot

_syncfs = ctypes.CDLL(None, use_errno=True).syncfs


class Shelf(NamedTuple):
    """What lies in the folder of one skill_id."""

    skill_id: str
    versions: frozenset[str]
    current: str | None  # where the link leads


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
            os.chmod(shelf, 0o755)  # whatever the umask is; who may enter is said further up
        except FileExistsError:
            remove(f"{self.path}/{package_path}")

    def flip(self, package_path: str) -> None:
        """Let `current` lead to a package, in one step. Raises OSError."""
        skill_id, _, version = package_path.partition("/")
        shelf = f"{self.path}/{skill_id}"
        try:
            os.symlink(version, f"{shelf}/{CURRENT}")
        except FileExistsError:
            if _target(f"{shelf}/{CURRENT}") == version:
                return
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
        with suppress(FileNotFoundError):
            os.unlink(f"{self.path}/{skill_id}/{CURRENT}")
        with suppress(OSError):
            os.rmdir(f"{self.path}/{skill_id}")

    def shelves(self) -> Iterator[Shelf]:
        """Yield what there is, having swept away what a crash left half made beside it."""
        try:
            found = sorted(os.listdir(self.path))
        except FileNotFoundError:
            return
        for skill_id in found:
            shelf = f"{self.path}/{skill_id}"
            try:
                names = set(os.listdir(shelf))
            except OSError:  # no folder, and none of ours
                continue
            for name in [name for name in names if name.startswith(".")]:
                remove(f"{shelf}/{name}")
                names.discard(name)
            current = _target(f"{shelf}/{CURRENT}") if CURRENT in names else None
            yield Shelf(skill_id, frozenset(names - {CURRENT}), current)

    def is_whole(self, package_path: str, files: Sequence[PackageFile], *,
                 deep: bool = False) -> bool:
        """Tell whether a package holds just these files, by their sizes; if deep, their hashes."""
        top = f"{self.path}/{package_path}"
        expected = {file.path: file for file in files}
        for path, stat in _files(top):
            file = expected.pop(path, None)
            if file is None or not S_ISREG(stat.st_mode) or stat.st_size != file.size:
                return False
            if deep and _sha256(f"{top}/{os_path(path)}") != file.sha256:
                return False
        return not expected

    def sync(self) -> None:
        """Wait until all that was written is on the disk: one call, however many files.

        Raises OSError.
        """
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if _syncfs(handle):
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code), str(self.path))
        finally:
            os.close(handle)


def remove(path: str) -> None:
    """Remove a file or a read-only tree; nothing is asked of what is not there."""
    if os.path.islink(path) or not os.path.isdir(path):
        with suppress(FileNotFoundError):
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

"""Inspection of the packages folder, through no link; changes at most modes."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import NamedTuple

from catalog.filesystem.by_descriptor import descended, directory, open_directory, set_mode
from catalog.filesystem.ownership import MARKER
from catalog.model.naming import is_skill_id, is_version
from catalog.model.paths import os_path, text_path
from catalog.writing.packages.folder import BESIDE, CURRENT, target_of
from catalog.writing.packages.staging import PackageFile, directories_of, hash_of

DIRECTORY_MODE = 0o555
"""Of every directory of a package."""


class PackageDirectory(NamedTuple):
    """What lies in the folder of one skill_id."""

    skill_id: str
    versions: frozenset[str]
    current: str | None  # where the link leads; empty where it is no link
    unfinished: frozenset[str] = frozenset()  # what a crash left beside them
    foreign: tuple[str, ...] = ()  # what skilldrop does not make


class PackagesListing(NamedTuple):
    """All that lies in the packages folder."""

    directories: dict[str, PackageDirectory]  # by skill_id
    foreign: tuple[str, ...]  # paths of what skilldrop does not make


def list_packages(folder: Path) -> PackagesListing:
    """Return what there is; nothing where there is no folder."""
    directories: dict[str, PackageDirectory] = {}
    foreign: list[str] = []
    try:
        with directory(folder) as at:
            for name in sorted(set(os.listdir(at)) - {MARKER}):
                shelf = _shelf(name, at) if is_skill_id(name) else None
                if shelf:
                    directories[name] = shelf
                    foreign += [f"{name}/{each}" for each in shelf.foreign]
                else:
                    foreign.append(name)
    except FileNotFoundError:
        pass
    return PackagesListing(directories, tuple(foreign))


def _shelf(skill_id: str, at: int) -> PackageDirectory | None:
    """Return what lies in the folder of a skill_id; None where that is no directory."""
    try:
        shelf = open_directory(skill_id, at)
    except OSError:
        return None
    if shelf is None:
        return None
    try:
        with os.scandir(shelf) as entries:
            found = {each.name: each for each in entries}
        versions = frozenset(
            name
            for name, each in found.items()
            if is_version(name) and each.is_dir(follow_symlinks=False)
        )
        unfinished = frozenset({BESIDE} & found.keys())
        current = (target_of(CURRENT, shelf) or "") if CURRENT in found else None
        return PackageDirectory(
            skill_id,
            versions,
            current,
            unfinished,
            tuple(sorted(found.keys() - versions - unfinished - {CURRENT})),
        )
    finally:
        os.close(shelf)


class Damage(NamedTuple):
    """One thing in which a package is not what was accepted."""

    path: str  # in the package; empty for the package itself
    what: str
    mode: int | None = None  # what its mode should be, where that is all

    def __str__(self) -> str:
        return f"{self.path or 'the package'} {self.what}"


def damages(
    folder: Path, package_path: str, files: Sequence[PackageFile], *, deep: bool = False
) -> Iterator[Damage]:
    """Yield where a package does not hold just these files, read-only.

    They are told by their sizes and modes; if deep, and where a mode is wrong, by their hashes.
    """
    try:
        with directory(folder) as top, descended(top, package_path.split("/")) as package:
            yield from _Look(files, deep=deep).damages(package)
    except PermissionError:
        yield Damage("", "may not be read", DIRECTORY_MODE)
    except OSError:
        yield Damage("", "is missing")


def set_modes(folder: Path, package_path: str, wrong: Sequence[Damage]) -> None:
    """Give the files and directories of a package the modes that they should have."""
    with suppress(OSError), directory(folder) as top:
        for each in wrong:
            *above, name = [*package_path.split("/"), *filter(None, os_path(each.path).split("/"))]
            with descended(top, above) as at:
                set_mode(name, at, each.mode or DIRECTORY_MODE)


class _Look:
    """One look at a package."""

    def __init__(self, files: Sequence[PackageFile], *, deep: bool) -> None:
        self._missing = {os_path(file.path): file for file in files}
        self._directories = {"", *directories_of(files)}
        self._deep = deep

    def damages(self, package: int) -> Iterator[Damage]:
        yield from self._directory(package, "")
        yield from (Damage(file.path, "is missing") for file in self._missing.values())

    def _directory(self, at: int, path: str) -> Iterator[Damage]:
        mode = S_IMODE(os.fstat(at).st_mode)
        if mode != DIRECTORY_MODE:
            yield _wrong_mode(text_path(path), mode, DIRECTORY_MODE)
        with os.scandir(at) as entries:
            found = list(entries)
        for entry in found:
            below = f"{path}/{entry.name}" if path else entry.name
            with suppress(FileNotFoundError):
                yield from self._entry(entry.name, below, entry.stat(follow_symlinks=False), at)

    def _entry(self, name: str, path: str, stat: os.stat_result, at: int) -> Iterator[Damage]:
        if S_ISDIR(stat.st_mode) and path in self._directories:
            yield from self._entered(name, path, S_IMODE(stat.st_mode), at)
            return
        file = self._missing.pop(path, None)
        if file is None:
            yield Damage(text_path(path), "is no file of this version")
            return
        mode, due = S_IMODE(stat.st_mode), file.mode & 0o555
        is_good = S_ISREG(stat.st_mode) and stat.st_size == file.size
        if is_good and (self._deep or mode != due):
            is_good = _sha256(name, at) == file.sha256
        if not is_good:
            yield Damage(file.path, "is not as it was accepted")
        elif mode != due:
            yield _wrong_mode(file.path, mode, due)

    def _entered(self, name: str, path: str, mode: int, at: int) -> Iterator[Damage]:
        try:
            below = open_directory(name, at)
        except PermissionError:
            below = None
            yield _wrong_mode(text_path(path), mode, DIRECTORY_MODE)
        if below is None:  # what lies in it is missing
            return
        try:
            yield from self._directory(below, path)
        finally:
            os.close(below)


def _wrong_mode(path: str, mode: int, due: int) -> Damage:
    return Damage(path, f"has mode {mode:o} instead of {due:o}", due)


def _sha256(name: str, at: int) -> str | None:
    try:
        handle = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at
        )
    except OSError:
        return None
    try:
        return hash_of(handle)
    except OSError:
        return None
    finally:
        os.close(handle)

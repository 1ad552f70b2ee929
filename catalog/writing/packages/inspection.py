"""Inspection of the packages folder; follows no links and changes only modes."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IFREG, S_IMODE, S_ISDIR, S_ISREG
from types import MappingProxyType
from typing import NamedTuple

from catalog.database.queries import Database, to_json
from catalog.filesystem.operations import FILE, descended, directory, open_directory, set_mode
from catalog.filesystem.ownership import MARKER
from catalog.model.naming import CURRENT, is_skill_id, is_version
from catalog.model.paths import os_path, text_path
from catalog.writing.packages.builder import DIRECTORY_MODE, NEXT_CURRENT, target_of
from catalog.writing.packages.staging import PackageFile, Tree, hash_of, tree_of


class PackagesListing(NamedTuple):
    """Entries of the packages folder."""

    packages: frozenset[str] = frozenset()  # `<skill_id>/<version>`
    current: Mapping[str, str] = MappingProxyType({})  # target by skill_id; empty if it is no link
    unfinished: tuple[str, ...] = ()  # paths left by a crash
    foreign: tuple[str, ...] = ()  # paths not made by skilldrop


def list_packages(folder: Path) -> PackagesListing:
    """List the packages folder; a missing folder has no entries."""
    packages: set[str] = set()
    current: dict[str, str] = {}
    unfinished: list[str] = []
    foreign: list[str] = []
    with suppress(FileNotFoundError), directory(folder) as dir_fd:
        for skill_id in sorted(set(os.listdir(dir_fd)) - {MARKER}):
            try:
                handle = open_directory(skill_id, dir_fd) if is_skill_id(skill_id) else None
            except OSError:
                handle = None
            if handle is None:
                foreign.append(skill_id)
                continue
            try:
                with os.scandir(handle) as entries:
                    for entry in sorted(entries, key=lambda entry: entry.name):
                        path = f"{skill_id}/{entry.name}"
                        if entry.name == CURRENT:
                            current[skill_id] = target_of(CURRENT, handle) or ""
                        elif entry.name == NEXT_CURRENT:
                            unfinished.append(path)
                        elif is_version(entry.name) and entry.is_dir(follow_symlinks=False):
                            packages.add(path)
                        else:
                            foreign.append(path)
            finally:
                os.close(handle)
    return PackagesListing(frozenset(packages), current, tuple(unfinished), tuple(foreign))


def strays(db: Database, listing: PackagesListing) -> Iterator[tuple[str, str]]:
    """Yield the path of each package and `current` that should not exist, with a message."""
    versions = packaged(db)
    for path in sorted((*listing.packages, *listing.unfinished)):
        if path not in versions:
            yield path, "it belongs to no version in the catalog"
    active = {path.partition("/")[0] for path in public(db)}
    for skill_id, target in listing.current.items():
        if f"{skill_id}/{target}" not in versions:
            yield f"{skill_id}/{CURRENT}", "it points to no version in the catalog"
        elif skill_id not in active:
            yield f"{skill_id}/{CURRENT}", "it points to a skill that is not active"


def packaged(db: Database) -> dict[str, int]:
    """Return the versions that have a package: their rows by `<skill_id>/<version>`."""
    return dict(db.execute("SELECT package_path, id FROM versions WHERE package_path IS NOT NULL"))


def public(db: Database, among: Collection[str] | None = None) -> list[str]:
    """Return the packages that a `current` should lead to: all, or those among some."""
    wanted = "" if among is None else " AND v.package_path IN (SELECT value FROM json_each(?))"
    values = [] if among is None else [to_json(list(among))]
    return [path for (path,) in db.execute(_PUBLIC + wanted, values)]


_PUBLIC = """
    SELECT s.package_path FROM versions AS v CROSS JOIN skills AS s ON s.current_version_id = v.id
    WHERE v.package_path IS NOT NULL AND s.status = 'active' AND s.package_path = v.package_path
"""


def package_files(db: Database, version: int) -> list[PackageFile]:
    """Return the files of a version, with the hashes stored for them."""
    return [
        PackageFile(path, size, sha256, int(mode, 8))
        for path, size, sha256, mode in db.execute(
            "SELECT path, size, sha256, mode FROM files WHERE version = ?", [version]
        )
    ]


def files_of_package(db: Database, package_path: str) -> list[PackageFile]:
    """Return the files of the version that has a package; none if no version has it."""
    row = db.execute("SELECT id FROM versions WHERE package_path = ?", [package_path]).fetchone()
    return package_files(db, row[0]) if row else []


class Damage(NamedTuple):
    """One difference between a package and its accepted version."""

    path: str  # in the package; empty for the package itself
    message: str
    mode: int | None = None  # the correct mode, if only the mode is wrong

    def __str__(self) -> str:
        return f"{self.path or 'the package'} {self.message}"


def damages(
    folder: Path,
    package_path: str,
    files: Sequence[PackageFile],
    *,
    deep: bool = False,
) -> Iterator[Damage]:
    """Yield the differences between a package, or a copy of it, and the files of its version.

    Compares sizes and modes, with `deep` also hashes. A file with a wrong mode is always hashed.
    """
    try:
        with directory(folder) as top, descended(top, package_path.split("/")) as package:
            yield from _wrong_mode("", os.fstat(package), DIRECTORY_MODE)
            yield from _damages_in(package, "", tree_of(files), deep=deep)
    except PermissionError:
        yield Damage("", "cannot be read", DIRECTORY_MODE)
    except (FileNotFoundError, NotADirectoryError):
        yield Damage("", "is missing")
    except OSError as error:
        yield Damage("", f"cannot be read: {error.strerror}")


def _damages_in(dir_fd: int, above: str, tree: Tree, *, deep: bool) -> Iterator[Damage]:
    """Yield the differences between an open directory and its tree."""
    missing = dict(tree)
    with os.scandir(dir_fd) as entries:
        for entry in entries:
            name, stat = entry.name, entry.stat(follow_symlinks=False)
            expected = tree.get(name)
            if isinstance(expected, PackageFile):
                del missing[name]
                is_right = stat.st_mode == S_IFREG | expected.mode & 0o555
                if deep or not is_right or stat.st_size != expected.size:
                    yield from _damages_of(name, dir_fd, stat, expected, deep=deep)
            elif expected and S_ISDIR(stat.st_mode):
                yield from _wrong_mode(above + name, stat, DIRECTORY_MODE)
                with suppress(PermissionError), descended(dir_fd, [name]) as inner:
                    del missing[name]
                    yield from _damages_in(inner, f"{above}{name}/", expected, deep=deep)
            else:
                yield Damage(text_path(above + name), "is not part of this version")
    yield from _missing(missing)


def _damages_of(
    name: str, dir_fd: int, stat: os.stat_result, file: PackageFile, *, deep: bool
) -> Iterator[Damage]:
    """Yield the damage of the entry of that name in an open directory, which should be a file."""
    is_intact = S_ISREG(stat.st_mode) and stat.st_size == file.size
    has_mode = S_IMODE(stat.st_mode) == file.mode & 0o555
    if is_intact and (deep or not has_mode):
        is_intact = _sha256(name, dir_fd) == file.sha256
    if not is_intact:
        yield Damage(file.path, "differs from the accepted version")
    elif not has_mode:
        yield from _wrong_mode(os_path(file.path), stat, file.mode & 0o555)


def _missing(tree: Tree) -> Iterator[Damage]:
    for entry in tree.values():
        if isinstance(entry, PackageFile):
            yield Damage(entry.path, "is missing")
        else:
            yield from _missing(entry)


def _wrong_mode(path: str, stat: os.stat_result, expected: int) -> Iterator[Damage]:
    if (mode := S_IMODE(stat.st_mode)) != expected:
        yield Damage(text_path(path), f"has mode {mode:o} instead of {expected:o}", expected)


def with_modes(
    folder: Path,
    package_path: str,
    files: Sequence[PackageFile],
    wrong: Sequence[Damage],
    *,
    deep: bool,
) -> list[Damage]:
    """Correct the wrong modes of a package, and return the damage that remains."""
    with suppress(OSError), directory(folder) as top:  # `damages` finds what stays wrong
        for damage in wrong:
            *above, name = [
                *package_path.split("/"),
                *filter(None, os_path(damage.path).split("/")),
            ]
            if damage.mode is not None:
                with descended(top, above) as dir_fd:
                    set_mode(name, dir_fd, damage.mode)
    return list(damages(folder, package_path, files, deep=deep))


def _sha256(name: str, dir_fd: int) -> str | None:
    """Return the hash of a file; None if its mode forbids to read it."""
    try:
        handle = os.open(name, FILE, dir_fd=dir_fd)
    except PermissionError:
        return None
    try:
        return hash_of(handle)
    finally:
        os.close(handle)

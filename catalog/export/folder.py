"""Copy of skills in a directory, of which only the differences are written."""

import errno
import fcntl
import filecmp
import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import BinaryIO

from catalog.export import lock_file
from catalog.export.lock_file import LockedSkill, locked
from catalog.export.selected import Failure, Source
from catalog.filesystem.by_descriptor import descended, directory, named, open_file, remove
from catalog.filesystem.ownership import refuse_owned
from catalog.filesystem.replacement import exchange_names
from catalog.model.errors import NotExported, PackageDamaged, PathRefused
from catalog.model.paths import os_path, text_path
from catalog.prompt_index.files import write_whole
from catalog.reading import skill_files
from catalog.reading.bundle import name_of
from catalog.reading.published import Package


def carry_others(present: Path, new: Path, ours: Collection[str]) -> None:
    """Bring the entries of others from the present folder of a skill into the new one.

    `ours` has the paths of the files of the last export, as text. Raises FileExistsError, which
    names the path, for an entry whose place the new folder needs, and other OSErrors.
    """
    our_folders = {str(folder) for path in ours for folder in Path(os_path(path)).parents}
    made: list[Path] = []
    for above, inner, files in os.walk(present, onerror=_fail):
        folder = Path(above).relative_to(present)
        names = [*files, *(name for name in inner if os.path.islink(os.path.join(above, name)))]
        paths = [path for name in names if text_path(str(path := folder / name)) not in ours]
        if paths or str(folder) not in our_folders:
            made += _make_folder(new, folder)
        for path in paths:
            _carry(present, new, path)
    for folder in reversed(made):  # at the end: it may be read-only
        shutil.copystat(present / folder, new / folder)


def linked(present: Path, target: Path) -> bool:
    """Hard-link a file; return whether the file system could."""
    try:
        os.link(present, target, follow_symlinks=False)
    except OSError:
        return False
    return True


def _make_folder(new: Path, path: Path) -> Iterator[Path]:
    """Make a folder and those above it; yield the path of each new one."""
    for folder in (*reversed(path.parents), path):
        try:
            (new / folder).mkdir()
            yield folder
        except FileExistsError:
            if not S_ISDIR((new / folder).lstat().st_mode):
                raise _in_the_way(folder) from None


def _carry(present: Path, new: Path, path: Path) -> None:
    source, target = present / path, new / path
    if os.path.lexists(target):
        if not _is_same(source, target):
            raise _in_the_way(path)
    elif not linked(source, target):
        shutil.copy2(source, target, follow_symlinks=False)


def _is_same(one: Path, other: Path) -> bool:
    """Return whether both are regular files with the same bytes."""
    are_files = all(S_ISREG(path.lstat().st_mode) for path in (one, other))
    return are_files and filecmp.cmp(one, other, shallow=False)


def _in_the_way(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _fail(error: OSError) -> None:
    raise error


NEXT = ".skilldrop-next"
"""Folder in the directory, where the changed skills are built."""
CHUNK = 1024 * 1024
"""Bytes read at once."""


@dataclass(slots=True)
class Exported:
    """Result of an export: names of folders."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)  # somebody else's entry has this name
    left: list[str] = field(default_factory=list)  # files of others in removed folders
    failed: list[Failure] = field(default_factory=list)


def export_to(
    folder: Path,
    sources: Sequence[Source],
    progress: Callable[[int], None] = lambda _: None,
    confirm: Callable[[int, int], None] = lambda *_: None,
) -> Exported:
    """Make the skills in a directory equal to the sources, and write its lock file.

    Each folder is exchanged in one step. Files that an earlier export did not write, by the lock
    file, stay. progress is called with the number of skills compared so far, and confirm before
    anything changes with the number of skills to remove and of those that are there; it may raise.
    Raises NotExported and OSError; the next export continues where this one ended.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotExported(f"{folder} is not a directory.")
    folder.mkdir(parents=True, exist_ok=True)
    with named(folder), directory(folder) as dir_fd, _one_at_a_time(folder, dir_fd):
        refuse_owned(dir_fd, folder)
        export = _Export(folder, dir_fd, progress)
        confirm(*export.removals(sources))
        return export.run(sources)


@contextmanager
def _one_at_a_time(folder: Path, dir_fd: int) -> Iterator[None]:
    try:
        fcntl.flock(dir_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotExported(f"Another export to {folder} is running; wait for its end.") from None
    yield  # the lock ends with the descriptor


class _Export:
    """One export to an open directory."""

    def __init__(self, folder: Path, dir_fd: int, progress: Callable[[int], None]) -> None:
        self._folder = folder
        self._dir_fd = dir_fd
        self._progress = progress
        self._before = self._read_lock()
        self._result = Exported()

    def removals(self, sources: Sequence[Source]) -> tuple[int, int]:
        """Return the number of skills to remove, and of those that are there."""
        gone = self._before.keys() - {source.folder for source in sources}
        return len(gone), len(self._before)

    def run(self, sources: Sequence[Source]) -> Exported:
        result = self._result
        remove(NEXT, self._dir_fd)  # left by a crash
        try:
            after = self._compare(sources)
            gone = [
                skill
                for name, skill in self._before.items()
                if name not in after and name not in result.taken
            ]
            if result.added or result.updated or gone:
                self._write_lock(
                    [*gone, *map(self._with_former_files, after.values())], unfinished=True
                )
            for names in (result.added, result.updated):
                for name in list(names):
                    if not self._put(name):
                        names.remove(name)
                        self._keep(name, after)
            for skill in gone:
                self._remove(skill)
            self._write_lock(after.values())
        finally:
            remove(NEXT, self._dir_fd)
        return result

    def _compare(self, sources: Sequence[Source]) -> dict[str, LockedSkill]:
        """Build the changed skills beside the others; return the skills for the lock file."""
        after: dict[str, LockedSkill] = {}
        for number, (name, package) in enumerate(sources, start=1):
            former = self._before.get(name)
            if self._is_taken(name, former):
                self._result.taken.append(name)
            elif former and self._is_same(name, package, former):
                self._result.unchanged.append(name)
                after[name] = locked(name, package)
            elif self._build(name, package, former):
                after[name] = locked(name, package)
            else:
                self._keep(name, after)
            self._progress(number)
        return after

    def _keep(self, name: str, after: dict[str, LockedSkill]) -> None:
        """Let a skill stay in the lock file as it was; it has not been copied."""
        after.pop(name, None)
        if name in self._before and name not in self._result.taken:
            after[name] = self._before[name]

    def _is_taken(self, name: str, former: LockedSkill | None) -> bool:
        """Return whether somebody else has an entry of this name."""
        try:
            mode = os.stat(name, dir_fd=self._dir_fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return False
        return former is None or not S_ISDIR(mode)

    # Comparison

    def _is_same(self, name: str, package: Package, former: LockedSkill) -> bool:
        paths = {name_of(entry) for entry in package.files}
        return all(
            self._has(name, name_of(entry), entry.sha256, int(entry.mode, 8))
            for entry in package.files
        ) and not any(
            os.path.lexists(self._folder / name / os_path(path))
            for path in former.files.keys() - paths
        )

    def _has(self, name: str, path: str, sha256: str, mode: int) -> bool:
        """Return whether a file is in the directory as it should be."""
        try:
            with open_file(str(self._folder), [name], os_path(path)) as file:
                return (
                    S_IMODE(os.fstat(file.fileno()).st_mode) == mode and _sha256_of(file) == sha256
                )
        except (OSError, PathRefused):
            return False

    # Changes

    def _build(self, name: str, package: Package, former: LockedSkill | None) -> bool:
        """Build a skill beside the others; unchanged files become hard links.

        Return whether all files could be read.
        """
        present, new = self._folder / name, self._folder / NEXT / name
        new.mkdir(parents=True)
        try:
            for entry in package.files:
                path, mode = name_of(entry), int(entry.mode, 8)
                target = new / os_path(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                if not (
                    former
                    and self._has(name, path, entry.sha256, mode)
                    and linked(present / os_path(path), target)
                ):
                    with skill_files.opened(package, entry) as file, target.open("xb") as copy:
                        shutil.copyfileobj(file, copy)
                        os.fchmod(copy.fileno(), mode)
        except (PackageDamaged, PathRefused) as error:
            self._result.failed.append(Failure(name, str(error)))
            return False
        is_new = not os.path.lexists(present)
        (self._result.added if is_new else self._result.updated).append(name)
        return True

    def _put(self, name: str) -> bool:
        """Move a built skill to its place, in one step; return False if others are in the way."""
        new, place = self._folder / NEXT / name, self._folder / name
        former = self._before.get(name)
        if self._is_taken(name, former):  # since it was built
            self._result.taken.append(name)
            return False
        if not former or not os.path.lexists(place):
            os.rename(new, place)
            return True
        try:
            carry_others(place, new, former.files)
        except FileExistsError as error:
            reason = f"{text_path(error.filename)} was not written by an export; move it away."
            self._result.failed.append(Failure(name, reason))
            return False
        exchange_names(new, place)
        return True

    def _remove(self, skill: LockedSkill) -> None:
        """Remove the files of a skill, SKILL.md first, and the folders that are empty then."""
        self._result.removed.append(skill.folder)
        folders = {""}
        for path in sorted(skill.files, key=lambda path: path != "SKILL.md"):
            *above, file = os_path(path).split("/")
            folders.update("/".join(above[:depth]) for depth in range(1, len(above) + 1))
            with (
                suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError),
                descended(self._dir_fd, [skill.folder, *above]) as parent,
            ):
                os.unlink(file, dir_fd=parent)
        for folder in sorted(folders, key=len, reverse=True):
            *above, last = filter(None, (skill.folder, *folder.split("/")))
            with suppress(OSError), descended(self._dir_fd, above) as parent:
                os.rmdir(last, dir_fd=parent)
        if os.path.lexists(self._folder / skill.folder):
            self._result.left.append(skill.folder)

    # Lock file

    def _read_lock(self) -> dict[str, LockedSkill]:
        path = self._folder / lock_file.NAME
        try:
            with open_file(str(self._folder), [], lock_file.NAME) as file:
                return lock_file.parse(file.read(lock_file.MOST_BYTES), str(path))
        except FileNotFoundError:
            return {}
        except PathRefused:
            raise NotExported(f"{path} is not a file; move it away.") from None

    def _write_lock(self, skills: Iterable[LockedSkill], *, unfinished: bool = False) -> None:
        write_whole(self._dir_fd, {lock_file.NAME: lock_file.render(skills, unfinished=unfinished)})

    def _with_former_files(self, skill: LockedSkill) -> LockedSkill:
        """Return a skill with the files that may still be there after a crash."""
        former = self._before.get(skill.folder)
        return skill._replace(files={**former.files, **skill.files}) if former else skill


def _sha256_of(file: BinaryIO) -> str:
    sha256 = hashlib.sha256()
    while chunk := file.read(CHUNK):
        sha256.update(chunk)
    return sha256.hexdigest()

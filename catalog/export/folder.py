"""Copy of skills in a directory, of which only the differences are written."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IMODE, S_ISDIR
from typing import BinaryIO

from catalog.export import copied
from catalog.export.copied import LOCK_FILE, CopiedSkill, Failure, LockedSkill, locked
from catalog.filesystem.operations import (
    descended,
    directory,
    exchange_names,
    named,
    open_file,
    remove,
)
from catalog.filesystem.ownership import refuse_owned
from catalog.model.errors import NotPossible, PackageDamaged, PathRefused
from catalog.model.paths import os_path, text_path
from catalog.prompt_index.files import write_whole
from catalog.reading.files import skill_files
from catalog.reading.files.bundle import name_of
from catalog.reading.files.published import Package, PublishedFile

NEXT = ".skilldrop-next"
"""Folder in the directory, where the changed skills are built."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    sources: Sequence[CopiedSkill],
    progress: Callable[[int], None] = lambda _: None,
    confirm: Callable[[int, int], None] = lambda *_: None,
) -> Exported:
    """Make the skills in a directory equal to the sources, and write its lock file.

    Each folder is exchanged in one step. Files that an earlier export did not write, by the lock
    file, stay. progress is called with the number of skills done so far, and confirm before
    anything changes with the number of skills to remove and of those that are there; it may raise.
    Raises NotPossible and OSError; the next export continues where this one ended.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotPossible(f"{folder} is not a directory.")
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
        raise NotPossible(f"Another export to {folder} is running; wait for its end.") from None
    yield  # the lock ends with the descriptor


class _Export:
    """One export to an open directory."""

    def __init__(self, folder: Path, dir_fd: int, progress: Callable[[int], None]) -> None:
        self._folder = folder
        self._dir_fd = dir_fd
        self._progress = progress
        self._done = 0
        self._before = self._read_lock()
        self._result = Exported()

    def removals(self, sources: Sequence[CopiedSkill]) -> tuple[int, int]:
        """Return the number of skills to remove, and of those that are there."""
        gone = self._before.keys() - {source.folder for source in sources}
        return len(gone), len(self._before)

    def run(self, sources: Sequence[CopiedSkill]) -> Exported:
        result = self._result
        remove(NEXT, self._dir_fd)  # left by a crash
        after, changed = self._compare(sources)
        gone = [
            skill
            for name, skill in self._before.items()
            if name not in after and name not in result.taken
        ]
        if changed or gone:
            # All that may be there if this export does not reach its end.
            self._write_lock([*gone, *map(self._with_former_files, after.values())])
        try:
            for source in changed:
                if not self._update(*source):
                    former = self._before.get(source.folder)
                    del after[source.folder]
                    if former and source.folder not in result.taken:
                        after[source.folder] = former
                self._step()
            for skill in gone:
                self._remove(skill)
            self._write_lock(after.values())
        finally:
            remove(NEXT, self._dir_fd)
        return result

    def _compare(
        self, sources: Sequence[CopiedSkill]
    ) -> tuple[dict[str, LockedSkill], list[CopiedSkill]]:
        """Return the skills for the lock file, and those to copy."""
        after: dict[str, LockedSkill] = {}
        changed: list[CopiedSkill] = []
        for name, package in sources:
            former = self._before.get(name)
            if self._is_taken(name, former):
                self._result.taken.append(name)
                self._step()
                continue
            after[name] = locked(name, package)
            if former and self._is_same(name, package, former):
                self._result.unchanged.append(name)
                self._step()
            else:
                changed.append(CopiedSkill(name, package))
        return after, changed

    def _step(self) -> None:
        self._done += 1
        self._progress(self._done)

    def _is_taken(self, name: str, former: LockedSkill | None) -> bool:
        """Return whether somebody else has an entry of this name."""
        try:
            mode = os.stat(name, dir_fd=self._dir_fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return False
        return former is None or not S_ISDIR(mode)

    def _is_same(self, name: str, package: Package, former: LockedSkill) -> bool:
        paths = {name_of(entry) for entry in package.files}
        return all(self._has(name, entry) for entry in package.files) and not any(
            os.path.lexists(self._folder / name / os_path(path))
            for path in former.files.keys() - paths
        )

    def _has(self, name: str, entry: PublishedFile) -> bool:
        """Return whether a file is in the directory as it should be."""
        try:
            with open_file(str(self._folder), [name], os_path(name_of(entry))) as file:
                mode = S_IMODE(os.fstat(file.fileno()).st_mode)
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, PathRefused):
            return False
        return mode == int(entry.mode, 8) and sha256 == entry.sha256

    # Changes

    def _update(self, name: str, package: Package) -> bool:
        """Build a skill beside the others and move it to its place in one step.

        Return False if that is impossible; the place is then as it was.
        """
        former, place = self._before.get(name), self._folder / name
        is_new = not os.path.lexists(place)
        try:
            if not self._is_taken(name, former):
                self._build(name, package, None if is_new else former)
        except (PackageDamaged, PathRefused) as error:
            self._result.failed.append(Failure(name, str(error)))
            return False
        except _InTheWay as error:
            reason = f"{text_path(str(error))} was not written by an export; move it away."
            self._result.failed.append(Failure(name, reason))
            return False
        if self._is_taken(name, former):  # perhaps since it was compared
            self._result.taken.append(name)
            return False
        new = self._folder / NEXT / name
        if is_new:
            os.rename(new, place)
        else:
            exchange_names(new, place)
        (self._result.added if is_new else self._result.updated).append(name)
        return True

    def _build(self, name: str, package: Package, former: LockedSkill | None) -> None:
        """Build a skill from the present folder, without its former files and with the new ones.

        Unchanged files and those of others become hard links. Raises PackageDamaged, PathRefused,
        and _InTheWay for an entry of others whose place a new file needs.
        """
        new = self._folder / NEXT / name
        unchanged: set[str] = set()
        if former:
            shutil.copytree(self._folder / name, new, symlinks=True, copy_function=linked)
            unchanged = {name_of(entry) for entry in package.files if self._has(name, entry)}
        else:
            new.mkdir(parents=True)
        with descended(self._dir_fd, [NEXT, name]) as top:
            if former:
                _remove_files(top, former.files.keys() - unchanged)
            for entry in package.files:
                if (path := name_of(entry)) not in unchanged:
                    with (
                        skill_files.opened(package, entry) as file,
                        _new_file(top, os_path(path)) as copy,
                    ):
                        shutil.copyfileobj(file, copy)
                        os.fchmod(copy.fileno(), int(entry.mode, 8))

    def _remove(self, skill: LockedSkill) -> None:
        """Remove the files of a skill, and its folders that are empty then."""
        self._result.removed.append(skill.folder)
        with suppress(FileNotFoundError, NotADirectoryError):
            with descended(self._dir_fd, [skill.folder]) as folder:
                _remove_files(folder, skill.files)
            with suppress(OSError):  # not empty
                os.rmdir(skill.folder, dir_fd=self._dir_fd)
        if os.path.lexists(self._folder / skill.folder):
            self._result.left.append(skill.folder)

    # Lock file

    def _read_lock(self) -> dict[str, LockedSkill]:
        path = self._folder / LOCK_FILE
        try:
            with open_file(str(self._folder), [], LOCK_FILE) as file:
                return copied.parse_lock(file.read(copied.MOST_LOCK_BYTES), str(path))
        except FileNotFoundError:
            return {}
        except PathRefused:
            raise NotPossible(f"{path} is not a file; move it away.") from None

    def _write_lock(self, skills: Iterable[LockedSkill]) -> None:
        write_whole(self._dir_fd, {LOCK_FILE: copied.render_lock(skills)})

    def _with_former_files(self, skill: LockedSkill) -> LockedSkill:
        """Return a skill with the files that may still be there after a crash."""
        former = self._before.get(skill.folder)
        return skill._replace(files={**former.files, **skill.files}) if former else skill


class _InTheWay(Exception):
    """An entry of others has the place of a new file; its path in the folder is the text."""


def linked(present: str, target: str) -> None:
    """Hard-link a file, or copy it where the file system cannot."""
    try:
        os.link(present, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(present, target, follow_symlinks=False)


def _remove_files(folder: int, paths: Iterable[str]) -> None:
    """Remove files from an open folder, SKILL.md first, and the folders that are empty then."""
    folders: set[tuple[str, ...]] = set()
    for path in sorted(paths, key=lambda path: path != "SKILL.md"):
        *above, file = os_path(path).split("/")
        folders.update(tuple(above[:depth]) for depth in range(1, len(above) + 1))
        with (
            suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError),
            descended(folder, above) as parent,
        ):
            os.unlink(file, dir_fd=parent)
    for *above, last in sorted(folders, key=len, reverse=True):
        with suppress(OSError), descended(folder, above) as parent:
            os.rmdir(last, dir_fd=parent)


@contextmanager
def _new_file(folder: int, path: str) -> Iterator[BinaryIO]:
    """Yield a new file in an open folder. Raises _InTheWay if its place is taken."""
    *above, name = path.split("/")
    with ExitStack() as stack:
        parent = folder
        for depth, part in enumerate(above, start=1):
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
            try:
                parent = stack.enter_context(descended(parent, [part]))
            except NotADirectoryError:
                raise _InTheWay("/".join(above[:depth])) from None
        try:
            handle = os.open(name, _NEW_FILE, 0o644, dir_fd=parent)
        except FileExistsError:
            raise _InTheWay(path) from None
        with open(handle, "wb") as file:
            yield file

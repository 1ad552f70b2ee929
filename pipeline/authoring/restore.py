"""Restoration of a removed skill: a kept version becomes a new folder, in its root or elsewhere."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from catalog.database.queries import Database, Row
from catalog.filesystem.operations import descended, directory, sync
from catalog.model.errors import NotPossible
from catalog.model.naming import argument
from catalog.model.paths import archive_of, os_path
from catalog.model.skill import Place, RootSpec
from catalog.reading import lookup
from catalog.reading.files import skill_files
from catalog.reading.files.published import kept


def restore(
    db: Database,
    packages: Path,
    roots: Sequence[RootSpec],
    asked: str,
    version: str | None,
    to: Path | None,
    progress: Callable[[int], None],
) -> tuple[str, str, str]:
    """Write a version of a removed skill, by default the newest, into a new folder.

    The folder is in its former place, in the first root that takes it, or in the directory `to`.
    Missing directories are made. Return the name, the version and the path. progress is called
    with the number of files written. Raises NotPossible, NotInCatalog and PackageDamaged; no part
    of the folder stays then.
    """
    skill = lookup.find_skill(db, asked)
    here = os.path.join(skill["root"], os_path(archive_of(skill["path"]) or skill["path"]))
    is_gone = os.path.isdir(skill["root"]) and not os.path.lexists(here)  # a scan will find it
    if skill["status"] != "removed" and not is_gone:
        raise NotPossible(
            f"{skill['name']} is not removed: its folder is {skill['root']}/{skill['path']}. "
            f"`skilldrop remove {argument(skill)}` makes room for an earlier version of it there; "
            "`skilldrop pin` publishes one and leaves the folder alone."
        )
    package = kept(db, packages, skill, version)
    top, path = _place(skill, roots, to)
    place = f"{top}/{path}"
    try:
        if to:
            os.makedirs(top, exist_ok=True)
        with _new_folder(top, os_path(path)) as folder:
            for done, entry in enumerate(package.files, 1):
                skill_files.copy(package, entry, folder / os_path(entry.path))
                progress(done)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
        advice = "" if to else " Use --to DIRECTORY."
        raise NotPossible(f"{place} was not made: {reason}.{advice}") from error
    return skill["name"], package.version, place


def _place(skill: Row, roots: Sequence[RootSpec], to: Path | None) -> tuple[str, str]:
    """Return a directory, and the path of the folder in it. Raises NotPossible."""
    root, path = skill["root"], skill["path"]
    name = Place(root, path, skill["level"]).folder_name
    if to:
        return str(to.expanduser().absolute()), name
    # A mirror changes by commits only, and no archive is written.
    writable = [each.path for each in roots if not each.origin and os.access(each.path, os.W_OK)]
    if root in writable and not archive_of(path):
        return root, path
    if not writable:
        raise NotPossible(f"No root takes {name} back. Use --to DIRECTORY.")
    return writable[0], name


@contextmanager
def _new_folder(top: str, path: str) -> Iterator[Path]:
    """Yield a folder to fill, which takes its place at the end; no link below top is followed."""
    *above, name = path.split("/")
    with directory(top) as top_fd:
        for depth, each in enumerate(above):
            with descended(top_fd, above[:depth]) as parent, suppress(FileExistsError):
                os.mkdir(each, dir_fd=parent)
        with descended(top_fd, above) as parent:
            here = f"/proc/self/fd/{parent}"
            with TemporaryDirectory(prefix=".skilldrop-", dir=here) as holder:  # scans ignore it
                (folder := Path(holder, name)).mkdir()
                yield folder
                os.mkdir(name, dir_fd=parent)  # fails if somebody has the name
                sync(parent)
                os.rename(folder, name, dst_dir_fd=parent)
                sync(parent)

"""Removal of a skill: its folder or archive moves to a dated trash, and is never deleted."""

import errno
import os
import shlex
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.filesystem.operations import descended, directory
from catalog.model.errors import NotPossible
from catalog.model.paths import is_archive, os_path, text_path, top_of_archive
from catalog.text.suggestions import few


class Trashed(NamedTuple):
    """Folder or archive that was moved to the trash."""

    path: str  # where it was
    trash: str  # its path in the trash
    others: tuple[str, ...]  # names of the skills inside it, which went along


def move(db: Database, root: str, path: str, data: Path, at: datetime) -> Trashed:
    """Move a folder or an archive, or the archive that contains a skill, to the data's trash.

    If the root is on another file system than the data directory, the trash lies beside the root.
    A link moves instead of its target. Raises NotPossible.
    """
    for (url,) in db.execute("SELECT url FROM mirrors WHERE root = ?", [root]):
        raise NotPossible(f"{path} is in the repository {url}; remove it there, by a commit.")
    archive = f"{path}!" if is_archive(path) else top_of_archive(path)
    others = _inside(db, root, archive or path, path)
    if archive and others and path.startswith(f"{archive}/"):
        file = archive.removesuffix("!")
        raise NotPossible(
            f"{path} is in the archive {root}/{file} with {few(others)}; remove them all with "
            f"`skilldrop remove {shlex.quote(file)}`, or it from the archive."
        )
    *above, name = os_path(archive.removesuffix("!") if archive else path).split("/")
    stamp = f"{at:%Y%m%d-%H%M%S-%f}"
    beside = f"{os.path.realpath(root)}.trash/{stamp}"
    try:
        with directory(root) as root_fd, descended(root_fd, above) as parent_fd:
            place = _moved(name, parent_fd, data / "trash" / stamp, beside)
    except OSError as error:
        reason = (
            "its path leads through a link"
            if error.errno == errno.ENOTDIR
            else (error.strerror or str(error))
        )
        raise NotPossible(f"{root}/{path} was not moved: {reason}.") from error
    source = text_path("/".join((*above, name)))
    return Trashed(f"{root}/{source}", text_path(place), others)


def _moved(name: str, parent_fd: int, *trashes: str | Path) -> str:
    """Move a name to the first trash on its file system, and return its new path."""
    for trash in trashes:
        os.makedirs(trash, mode=0o700, exist_ok=True)
        try:
            with directory(trash) as trash_fd:
                if name in os.listdir(trash_fd):
                    raise FileExistsError(errno.EEXIST, f"{trash}/{name} exists already")
                os.rename(name, name, src_dir_fd=parent_fd, dst_dir_fd=trash_fd)
            return f"{trash}/{name}"
        except OSError as error:
            with suppress(OSError):  # others may lie in it
                os.rmdir(trash)
            if error.errno != errno.EXDEV:
                raise
    where = " nor ".join(str(Path(trash).parent) for trash in trashes)
    raise OSError(errno.EXDEV, f"neither {where} is on its file system; move it away yourself")


def _inside(db: Database, root: str, path: str, but: str) -> tuple[str, ...]:
    """Return the names of the present skills at a path or below it, but not at another path."""
    rows = db.execute(
        "SELECT name FROM skills WHERE root = ? AND path != ? AND status != 'removed'"
        " AND (path = ? OR substr(path, 1, length(?) + 1) = ? || '/') ORDER BY name",
        [root, but, path, path, path],
    )
    return tuple(name for (name,) in rows)

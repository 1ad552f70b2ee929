"""Check whether the catalog knows the content of a folder that has lost its marker."""

import json
import os
from stat import S_ISDIR, S_ISREG

from sqlite_utils import Database

from catalog.filesystem.ownership import FolderKind
from catalog.model.paths import os_path

_ENOUGH = 100
"""Names that are looked for at most."""


def knows(db: Database, kind: FolderKind, at: int) -> bool:
    """Tell whether something that the catalog has made or taken in lies in an open folder."""
    if kind == "index":
        return _knows_index(db, at)
    is_there = S_ISDIR if kind == "packages" else S_ISREG
    return any(
        is_there(_mode(os_path(name), at))
        for (name,) in db.execute(_MADE[kind], [_ENOUGH]).fetchall()
    )


_MADE = {
    "packages": "SELECT package_path FROM versions WHERE package_path IS NOT NULL LIMIT ?",
    "outcomes": "SELECT path FROM outcomes ORDER BY id DESC LIMIT ?",
}


def _knows_index(db: Database, at: int) -> bool:
    """Tell whether the report of an index is there that says what was published once."""
    for (name,) in db.execute("SELECT name FROM indexes").fetchall():
        try:
            handle = os.open(
                f"{name}.meta.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at
            )
            with open(handle, "rb") as file:
                sha256 = str(json.load(file)["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if db.execute("SELECT 1 FROM index_texts WHERE sha256 = ?", [sha256]).fetchone():
            return True
    return False


def _mode(path: str, at: int) -> int:
    """Return the mode of what has a path in a folder; 0 where there is nothing."""
    try:
        return os.stat(path, dir_fd=at, follow_symlinks=False).st_mode
    except OSError:
        return 0

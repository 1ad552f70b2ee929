"""Paths of this machine, shortened for readers on other machines."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from catalog.database.queries import Database
from catalog.model.paths import root_name


def disk_folders(db: Database) -> list[str]:
    """Return the roots and the data directory of a catalog."""
    paths = [path for (path,) in db.execute("SELECT path FROM roots").fetchall()]
    packages = db.execute("SELECT packages_folder FROM health").fetchone()[0]
    return [*paths, *([str(PurePath(packages).parent)] if packages else [])]


def shortened_paths(text: str, folders: Sequence[str]) -> str:
    """Return a text in which a path in one of the folders begins with the folder's own name."""
    for folder in sorted(folders, key=len, reverse=True):
        name = root_name(folder).replace("\\", r"\\")
        if name:
            text = re.sub(rf"{re.escape(folder)}(?![\w.-])", name, text)
    return text

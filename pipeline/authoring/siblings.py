"""Files of skills that lie side by side in a tree which is validated without a catalog."""

import os
from pathlib import Path
from posixpath import dirname, join, normpath

from catalog.model.paths import archive_of, os_path
from pipeline.roots import reader


def has_sibling_file(root: Path, folder: str, path: str) -> bool:
    """Return whether a path, relative to a skill folder of a root, is in a skill beside that one.

    It may be a file or a folder. Skills in archives have no siblings here.
    """
    if not path.startswith("../") or archive_of(folder) is not None:
        return False
    beside = join(dirname(folder), "")
    place = normpath(join(folder, path))
    name = place.removeprefix(beside).partition("/")[0]
    if not place.startswith(beside) or name in ("", ".."):
        return False
    sibling = root / os_path(beside + name)
    if not reader.is_skill_folder(sibling):
        return False
    real = os.path.realpath(root / os_path(place))
    return os.path.exists(real) and Path(real).is_relative_to(os.path.realpath(sibling))

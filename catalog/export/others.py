"""Files of others in the exported folder of a skill, which every export keeps."""

import errno
import filecmp
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from catalog.model.paths import os_path, text_path


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

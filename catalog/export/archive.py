"""Copy of skills as one archive: the same bytes for the same skills."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from catalog.export.copied import LOCK_FILE, CopiedSkill, locked, render_lock
from catalog.filesystem.operations import replaced
from catalog.model.errors import NotPossible
from catalog.model.paths import os_path
from catalog.reading.files import bundle, skill_files
from catalog.reading.files.bundle import name_of

ENDINGS = (".zip", ".tar.gz", ".tgz")


def write_archive(
    path: Path, sources: Sequence[CopiedSkill], progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write the skills and their lock file as an archive, whole or not at all.

    The format follows from the ending. Executable bits are kept; times and owners are not stored.
    A `.tar.gz` also depends on the version of zlib. Raises NotPossible, PackageDamaged and OSError.
    """
    if not path.name.lower().endswith(ENDINGS):
        raise NotPossible(f"{path} must end with {', '.join(ENDINGS)}.")
    lock = render_lock(locked(*source) for source in sources)
    with replaced(path) as file, _opened(path, file) as add:
        add(LOCK_FILE, 0o644, len(lock), io.BytesIO(lock))
        for number, (folder, package) in enumerate(sorted(sources), start=1):
            for entry in package.files:
                with skill_files.opened(package, entry) as content:
                    name = f"{folder}/{os_path(name_of(entry))}"
                    add(name, int(entry.mode, 8), entry.size, content)
            progress(number)


@contextmanager
def _opened(path: Path, file: IO[bytes]) -> Iterator[Callable[[str, int, int, IO[bytes]], None]]:
    """Yield a function that adds a file by name, mode, size in bytes and content."""
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            yield partial(bundle.add, archive)
        return
    with (
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield partial(_add, tar)


def _add(tar: tarfile.TarFile, name: str, mode: int, size: int, content: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.mode, member.size = mode, size
    tar.addfile(member, content)

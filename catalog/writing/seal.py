"""Seal on packages, links and copies that a start has compared with the catalog.

The last writer leaves it with the closed catalog. A stat of each directory then shows that nobody
has changed an entry since, and the next start need not compare them all again. It is a hint only:
the files in packages and copies are verified by their hashes, in turns.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from catalog.database.queries import Database
from catalog.database.sql import to_json
from catalog.model.version import VERSION
from catalog.writing.links import table


def seal_of(db: Database, packages: Path, *, in_place: bool) -> str:
    """Return the seal on a packages folder and all directories of links as they are now.

    It also changes with the settings and the release, on which their right state depends.
    """
    digest = hashlib.sha256()
    settings = (VERSION, str(packages), in_place)
    digest.update(to_json(settings).encode())
    for entry in sorted(_entries(packages)):
        digest.update(entry.encode(errors="surrogateescape"))
    for row in table.directories(db):
        stored = (
            row.spec.path,
            row.spec.index,
            row.spec.selection,
            row.is_leaving,
            row.trouble,
            row.spec.copy,
        )
        digest.update(f"{to_json(stored)}{_state(row.spec.path)}".encode())
        if row.spec.copy:
            for entry in sorted(_entries(Path(row.spec.path))):
                digest.update(entry.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _entries(folder: Path) -> Iterator[str]:
    yield _state(folder)
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            stat = entry.stat(follow_symlinks=False)
            yield f"{entry.name}\0{stat.st_ino} {stat.st_ctime_ns}\n"


def _state(directory: str | Path) -> str:
    """Return the identity of a directory and its last change, which no program can set."""
    try:
        stat = os.stat(directory)
    except OSError as error:
        return f"{error.errno}\n"
    return f"{stat.st_dev} {stat.st_ino} {stat.st_ctime_ns}\n"

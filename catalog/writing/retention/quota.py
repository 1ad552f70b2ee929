"""Limits of publication: bytes of packages and free bytes of the disk."""

import os
from collections.abc import Iterable
from pathlib import Path

from catalog.database.queries import Database
from catalog.model.errors import OutOfRoom
from catalog.model.quota import Quota
from catalog.text.humanize import size
from catalog.writing.packages.builder import PackageJob


class Room:
    """Remaining room for packages; their size is counted once and then updated."""

    def __init__(self, db: Database) -> None:
        """Take the catalog."""
        self._db = db
        self._taken: int | None = None

    def recount(self) -> None:
        """Count again at the next call, after packages were removed."""
        self._taken = None

    def take(self, quota: Quota, folder: Path, jobs: Iterable[PackageJob]) -> None:
        """Reserve room for packages. Raises OutOfRoom."""
        needed = sum(_bytes(job) for job in jobs)
        if quota.free_bytes:
            _check_disk(quota, folder, needed)
        if quota.packages_bytes is None:
            return
        taken = self._count() if self._taken is None else self._taken
        if taken + needed > quota.packages_bytes:
            raise OutOfRoom(
                f"Nothing is published: packages take {size(taken)} and would take "
                f"{size(needed)} more, and [retention] packages_bytes allows "
                f"{size(quota.packages_bytes)}. Raise it, keep fewer versions, or remove skills."
            )
        self._taken = taken + needed

    def _count(self) -> int:
        return int(self._db.execute(_TAKEN).fetchone()[0])


def _check_disk(quota: Quota, folder: Path, needed: int) -> None:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    disk = os.statvfs(existing)
    free = disk.f_bavail * disk.f_frsize
    if free - needed < quota.free_bytes:
        raise OutOfRoom(
            f"Nothing is published: the disk of {folder} has {size(free)} free, packages would "
            f"take {size(needed)}, and [retention] free_bytes keeps {size(quota.free_bytes)}. "
            "Free some space; publication then resumes by itself."
        )


def _bytes(job: PackageJob) -> int:
    """Return the bytes of a package; a file that it shares with another counts, too."""
    return sum(file.size for file in job.files)


_TAKEN = """
    SELECT ifnull(sum(f.size), 0) FROM versions AS v JOIN files AS f ON f.version = v.id
    WHERE v.package_path IS NOT NULL
"""

"""Limits of publication: versions an hour, bytes of packages, and room on the disk."""

import os
from collections.abc import Iterable
from pathlib import Path

from sqlite_utils import Database

from catalog.model.errors import OutOfRoom
from catalog.model.quota import Quota
from catalog.text.humanize import size
from catalog.writing.packages.builder import PackageJob


class Room:
    """The room that packages may still take; what they take is counted once and then kept up."""

    def __init__(self, db: Database) -> None:
        """Take the catalog."""
        self._db = db
        self._taken: int | None = None

    def recount(self) -> None:
        """Count again the next time: packages have been removed."""
        self._taken = None

    def take(self, quota: Quota, folder: Path, jobs: Iterable[PackageJob]) -> None:
        """Make sure that packages may be made. Raises OutOfRoom."""
        wanted = sum(_bytes(job) for job in jobs)
        if quota.free_bytes:
            _check_disk(quota, folder, wanted)
        if quota.packages_bytes is None:
            return
        taken = self._count() if self._taken is None else self._taken
        if taken + wanted > quota.packages_bytes:
            raise OutOfRoom(
                f"Nothing is published: packages take {size(taken)} and would take "
                f"{size(wanted)} more, and [retention] packages_bytes allows "
                f"{size(quota.packages_bytes)}. Raise it, keep fewer versions, or remove skills."
            )
        self._taken = taken + wanted

    def _count(self) -> int:
        return int(self._db.execute(_TAKEN).fetchone()[0])


def _check_disk(quota: Quota, folder: Path, wanted: int) -> None:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    disk = os.statvfs(there)
    free = disk.f_bavail * disk.f_frsize
    if free - wanted < quota.free_bytes:
        raise OutOfRoom(
            f"Nothing is published: the disk of {folder} has {size(free)} free, packages would "
            f"take {size(wanted)}, and [retention] free_bytes keeps {size(quota.free_bytes)}. "
            "Make room; publication goes on by itself."
        )


def _bytes(job: PackageJob) -> int:
    """Return what a package takes that shares files with the version before it."""
    return sum(file.size for file in job.files if file.content not in job.candidates.paths)


_TAKEN = """
    SELECT ifnull(sum(size), 0) FROM
        (SELECT DISTINCT v.skill, f.sha256, f.mode, f.size FROM versions AS v
         JOIN files AS f ON f.version = v.id WHERE v.package_path IS NOT NULL)
"""

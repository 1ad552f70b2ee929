"""Takeover of the skills that a lost catalog had published, from their packages.

A new catalog may stand beside packages: the former one was deleted, damaged or put aside. Agents
keep their skills: each published package becomes a version of its skill. Packages that
no version names stay until all roots were read once.
"""

import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from catalog.database.queries import Writer, to_json
from catalog.database.recovery import opened
from catalog.model.change import Judged
from catalog.model.skill import LOST_ROOT, Place, RootSpec
from catalog.model.values import Level
from catalog.text.humanize import iso
from catalog.writing.packager import Packager
from catalog.writing.packages.inspection import PackagesListing
from catalog.writing.rows import reviews

log = logging.getLogger("skilldrop")


class Lost(NamedTuple):
    """A catalog that is no longer used."""

    reason: str  # a clause
    aside: Path | None = None  # its file, if that was renamed


class Former(NamedTuple):
    """A published skill in a catalog that was put aside."""

    root: str
    path: str
    level: Level
    digest: str


class LostSkill(NamedTuple):
    """A published skill whose folder is unknown."""

    path: str  # in LOST_ROOT
    digest: str


class LostPackage(NamedTuple):
    """A package that is to become the version of a skill."""

    path: str  # `<skill_id>/<version>`
    root: RootSpec
    place: Place
    digest: str | None = None  # of its content, where a pin or the former catalog names it
    is_pinned: bool = False


class Takeover:
    """The takeover of one lost catalog; its state is the entry in `health.recoveries`."""

    def __init__(
        self,
        db: Writer,
        packager: Packager,
        file: Path | None,
        lost: Lost | None,
    ) -> None:
        """Take the catalog, its packager and file, and the catalog that was put aside just now."""
        self._db, self._packager, self._file = db, packager, file
        has_versions = db.execute("SELECT 1 FROM versions LIMIT 1").fetchone()
        self._lost = lost or (None if has_versions else Lost("was missing"))
        self.is_under_way = any(map(_is_open, self._recoveries()))
        """Whether the packages of a lost catalog stay: until all roots were read once."""

    @property
    def is_due(self) -> bool:
        """Whether a takeover is under way, or may begin."""
        return self.is_under_way or self._lost is not None

    @property
    def is_unscanned(self) -> bool:
        """Whether the first full scan of the new catalog is still to end."""
        if not self.is_under_way:
            return False
        (last_scan,) = self._db.execute("SELECT last_full_scan FROM health").fetchone()
        return last_scan is None

    def begin(
        self, listing: PackagesListing, at: datetime, *, has_decisions: bool = False
    ) -> str | None:
        """Begin a takeover if a catalog was lost just now; return a clause on that catalog."""
        lost, self._lost = self._lost, None
        is_published = any(listing.current.values())
        if not lost or not (lost.aside or is_published or has_decisions):
            return None
        if self.is_under_way and not lost.aside:
            return None  # it was begun by an earlier start
        entry: dict[str, Any] = {
            "recovered_at": iso(at),
            "reason": lost.reason,
            "damaged_file": lost.aside.name if lost.aside else None,
            "packages_removed": None,
        }
        self._store([*self._recoveries(), entry])
        return f"{lost.reason} and is kept as {lost.aside}" if lost.aside else lost.reason

    def end(self, packages_removed: int) -> None:
        """Note that the takeover has ended, and how many packages it removed."""
        recoveries = self._recoveries()
        for recovery in filter(_is_open, recoveries):
            recovery["packages_removed"] = packages_removed
        self._store(recoveries)

    def unnamed(self, listing: PackagesListing) -> Set[str]:
        """Return the package_path of each package that no version names."""
        named = self._db.execute("SELECT skill_id || '/' || version FROM versions")
        return listing.packages.difference(path for (path,) in named)

    def published(self, listing: PackagesListing) -> Iterator[str]:
        """Yield the package_path of each published package that no version names."""
        unnamed = self.unnamed(listing)
        for skill_id, target in listing.current.items():
            if (path := f"{skill_id}/{target}") in unnamed:
                yield path

    def formers(self) -> dict[str, Former]:
        """Return the skills that the former catalog had published, by package_path."""
        found: dict[str, Former] = {}
        for recovery in filter(_is_open, self._recoveries()):
            if self._file and recovery["damaged_file"]:
                aside = self._file.with_name(recovery["damaged_file"])
                # Without it, a version needs an approval where its root asks for that.
                with suppress(OSError, sqlite3.Error), opened(aside) as former:
                    found |= {path: Former(*row) for path, *row in former.execute(_PUBLISHED)}
        return found

    def take(
        self, packages: Sequence[tuple[LostPackage, Judged]], at: datetime
    ) -> list[LostPackage]:
        """Store packages as the versions that agents get, and return those that may be given.

        A scan judges the folders of their skills again. Without a record of its publication, a
        version needs an approval where its root asks for it.
        """
        packages = [(each, judged) for each, judged in packages if self._may_be_given(each, judged)]
        for root in {each.root for each, _ in packages}:
            self._db.execute(_ADD_ROOT, [root.path, root.level])
        self._packager.apply([judged for _, judged in packages], trigger="start", at=at)
        with self._db.transaction():
            for each, judged in packages:
                place, digest = judged.places[0], judged.verdict.digest
                version = each.path.partition("/")[2]
                self._db.execute(_NAME, [version, each.path, iso(at), digest, *place])
                self._db.execute(_DOUBT, [each.is_pinned, *place])
            self._db.execute(_DECIDED)
        return [each for each, _ in packages]

    def _may_be_given(self, package: LostPackage, judged: Judged) -> bool:
        if decision := reviews.newest_decision(self._db, judged.verdict.digest or ""):
            return bool(decision["decision"] == "approved")
        policy = reviews.Policy(package.root.review, 0)
        return package.digest is not None or not policy.concerns(judged.verdict.findings)

    def skills(self) -> dict[str, LostSkill]:
        """Return the skills that were taken over without a folder, by skill_id."""
        rows = self._db.execute(_LOST, [LOST_ROOT]).fetchall()
        return {skill_id: LostSkill(*row) for skill_id, *row in rows}

    def _recoveries(self) -> list[dict[str, Any]]:
        return list(json.loads(self._db.execute("SELECT recoveries FROM health").fetchone()[0]))

    def _store(self, recoveries: Sequence[Mapping[str, Any]]) -> None:
        self._db.execute("UPDATE health SET recoveries = ?", [to_json(recoveries)])
        self.is_under_way = any(map(_is_open, recoveries))


def lost_place(skill_id: str, level: Level) -> Place:
    """Return the place of a published skill whose folder is unknown."""
    namespace, _, name = skill_id.rpartition("--")
    return Place(LOST_ROOT, f"{namespace}/{name}" if namespace else name, level, namespace or None)


def _is_open(recovery: Mapping[str, Any]) -> bool:
    return recovery.get("packages_removed", 0) is None


_PUBLISHED = """
    SELECT v.skill_id || '/' || v.version, s.root, s.path, s.level, v.digest
    FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id WHERE s.status = 'active'
"""
_DECIDED = """
    UPDATE versions SET review = (SELECT decision FROM reviews AS r
                                  WHERE r.digest = versions.digest ORDER BY r.id DESC LIMIT 1)
    WHERE review IS NULL AND digest IN (SELECT digest FROM reviews)
"""
_ADD_ROOT = """
    INSERT OR IGNORE INTO roots
        (path, level, position, acceptance, profiles, judged_by, review_from, configured)
    VALUES (?, ?, 0, 'lenient', '[]', '', 0, 0)
"""
_NAME = """
    UPDATE versions SET version = ?, package_path = ?, verified_at = ? WHERE digest = ? AND id =
        (SELECT current_version_id FROM skills WHERE root = ? AND path = ?)
"""
_DOUBT = """
    UPDATE skills SET fingerprint = '', pinned_version_id = iif(?, current_version_id, NULL)
    WHERE root = ? AND path = ?
"""
_LOST = "SELECT skill_id, path, digest FROM skills WHERE root = ? AND status != 'removed'"

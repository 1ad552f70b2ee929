"""The catalog, open for writing: its tables, packages and folders."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from catalog.database.queries import Writer
from catalog.database.requests import Requests
from catalog.database.sql import Row
from catalog.model.change import Change, ChangeResult
from catalog.model.retention import Retention
from catalog.model.values import Trigger
from catalog.prompt_index.history import IndexHistory
from catalog.reading.review import Asked
from catalog.text.humanize import iso
from catalog.writing import decisions, journal
from catalog.writing import retention as retention_history
from catalog.writing.catalog_file import CatalogFile, migrated
from catalog.writing.decisions import Decision
from catalog.writing.events import Events
from catalog.writing.folder_ownership import FolderOwnership
from catalog.writing.journal import DecisionKeeper
from catalog.writing.links.keeper import LinkKeeper
from catalog.writing.links.table import Packages
from catalog.writing.packager import Packager
from catalog.writing.packages.builder import Key, Packaging
from catalog.writing.packages.inspection import list_packages
from catalog.writing.repair import PackageRepair
from catalog.writing.retention import PackageCollector
from catalog.writing.rows import fulltext, references
from catalog.writing.seal import seal_of
from catalog.writing.tables.health import Health
from catalog.writing.tables.removals import Removals
from catalog.writing.tables.roots import Mirrors, Roots
from catalog.writing.tables.run_outcomes import RunOutcomes
from catalog.writing.tables.scans import Scans
from catalog.writing.tables.skills import Skills
from catalog.writing.takeover import Takeover


class Store:
    """The only interface for writers; one process opens it, and one thread uses it."""

    def __init__(self, db: Writer, file: CatalogFile | None = None) -> None:
        """Take a migrated database, and its file if it has one."""
        self.db = db
        self._file = file
        self._seal: str | None = None
        self.removals = Removals(db, self.transaction)
        self.roots = Roots(db, self.transaction, self.removals)
        self.mirrors = Mirrors(db, self.transaction)
        self.skills = Skills(db, self.transaction)
        self.scans = Scans(db, self.transaction)
        self.health = Health(db, self.transaction)
        self.requests = Requests(db)
        self.outcomes = RunOutcomes(db, self.transaction)
        self.events = Events(db, self.transaction)
        self.indexes = IndexHistory(db, self.transaction)
        self.folders = FolderOwnership(db)
        self.links = LinkKeeper(db, self.transaction, self.folders)
        self.packager = Packager(db, self.transaction)
        path, lost = (file.path, file.lost) if file else (None, None)
        self.takeover = Takeover(db, self.transaction, self.packager, path, lost)
        self.repair = PackageRepair(db, self.packager, self.links, self.takeover)
        self._collector = PackageCollector(db)
        file_of_decisions = file.path.with_name(journal.NAME) if file else None
        self.decisions = DecisionKeeper(self.packager, db, file_of_decisions, self.takeover)

    @classmethod
    def open(cls, path: Path, at: datetime | None = None, *, damage: str | None = None) -> "Store":
        """Open or create the catalog file for writing; see `CatalogFile.open`."""
        file = CatalogFile.open(path, at, damage=damage)
        return cls(file.db, file)

    @classmethod
    def in_memory(cls) -> "Store":
        """Return an empty catalog that is lost when it is closed."""
        return cls(migrated(sqlite3.connect(":memory:", isolation_level=None)))

    def close(self) -> None:
        """Close the catalog and release its writer lock."""
        if self._file:
            is_settled = self.packager.is_settled and self.links.is_checked
            # The seal of the start: one of now could cover damage since then.
            self._file.close(self._seal if is_settled and self.repair.is_complete else None)
        else:
            self.db.conn.close()

    def is_in_place(self) -> bool:
        """Return whether the catalog file and its lock still exist at their original paths."""
        return not self._file or self._file.is_in_place()

    def checkpoint(self) -> bool:
        """Copy the write-ahead log into the file; return False if a reader still needs a part.

        SQLite does the same during a commit once the log is long enough.
        """
        ((_, pages, copied),) = self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return bool(pages == copied)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin with the write lock: taken after a read, it could fail without a retry."""
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("PRAGMA defer_foreign_keys = ON")  # a skill and its version name each other
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            self.db.rollback()
            raise

    # Changes and their publication

    def publish_into(
        self, packaging: Packaging, at: datetime, retention: Retention | None = None
    ) -> Iterator[int]:
        """Start publication, and repair the packages; see `PackageRepair.repair_all`.

        Raises FolderNotOwned if the packages folder belongs to another catalog.
        """
        self.folders.claim([packaging.folder.folder])
        folder = replace(packaging.folder, identity=self.folders.identity)
        if folder.path.exists():
            with self.folders.opened(folder.folder):
                pass  # this marks a folder of an earlier release
        self.packager.retention = retention or Retention()
        self.packager.packaging = replace(packaging, folder=folder)
        self.health.set(packages_folder=str(folder.path))
        self._seal = self._seal_now()
        if self._file and self._seal and self._seal == self._file.left_seal:
            self.links.trust()
            return self.repair.publish_missing(at)
        if self.takeover.is_due:
            self.takeover.begin(list_packages(folder.path), at)
        return self.repair.repair_all(at)

    def _seal_now(self) -> str | None:
        """Return the seal on packages and links; None if they cannot be read."""
        packages = self.packages
        with suppress(OSError, sqlite3.Error):
            if packages:
                return seal_of(self.db, packages.folder, in_place=packages.in_place)
        return None

    def apply(
        self, changes: Sequence[Change], *, trigger: Trigger, at: datetime, scan: int | None = None
    ) -> list[ChangeResult]:
        """Store and publish a batch of verdicts and removals; see `Packager.apply`."""
        return self.packager.apply(changes, trigger=trigger, at=at, scan=scan)

    def pin(self, skill: str, version: str, at: datetime) -> list[Key]:
        """Pin a skill to a version and publish that; see `pins.pin`."""
        return self._decided(lambda: decisions.pin(self.db, skill, version, iso(at)), at)

    def unpin(self, skill: str, at: datetime) -> list[Key]:
        """Unpin a skill and publish the present content of its folder; see `pins.unpin`."""
        return self._decided(lambda: decisions.unpin(self.db, skill, iso(at)), at)

    def review(self, asked: Asked, decision: Decision) -> Row:
        """Store a decision on a version and publish what follows; return the version's row.

        See `reviews.decide`.
        """
        versions: list[Row] = []

        def work() -> set[str]:
            version, contested = decisions.decide(self.db, asked, decision)
            versions.append(version)
            return contested

        self._decided(work, datetime.fromisoformat(decision.decided_at))
        return versions[0]

    def prefer(self, folder: str, absolute: str, at: datetime) -> str:
        """Give the skill of a folder its name, publish it and return its skill_id; see `prefer`."""
        skill_ids: list[str] = []

        def work() -> list[str]:
            skill_ids.append(decisions.prefer(self.db, folder, absolute, iso(at))["skill_id"])
            return skill_ids

        self._decided(work, at)
        return skill_ids[0]

    def _decided(self, decide: Callable[[], Iterable[str]], at: datetime) -> list[Key]:
        """Publish what follows from a decision of a person, and add it to the journal."""
        again = self.packager.publish(decide, at)
        self.decisions.write(at)
        return again

    def place(self) -> None:
        """Update the directories of skills; see `LinkKeeper.update`."""
        if packages := self.packages:
            self.links.update(packages, self.packager.changed)
            self.packager.changed.clear()

    def withdraw(self) -> None:
        """Remove what the indexes no longer name; see `LinkKeeper.withdraw`."""
        if packages := self.packages:
            self.links.withdraw(packages)
            self.packager.withdraw()

    @property
    def packages(self) -> Packages | None:
        """The packages folder, for links and copies; None if nothing is published."""
        packaging = self.packager.packaging
        return Packages(packaging.folder.path, packaging.in_place) if packaging else None

    def repair_search(self) -> None:
        """Make the full-text rows match the accepted skills; see `search_rows.repair`."""
        if wrong := fulltext.wrong_rows(self.db):
            with self.transaction():
                fulltext.repair_rows(self.db, wrong)

    def repair_references(self) -> None:
        """Resolve the references between skills that are outdated; see `references`."""
        if references.wrong_skills(self.db):
            with self.transaction():
                references.repair(self.db)

    # Retention

    def collect(self, retention: Retention, at: datetime) -> int:
        """Remove packages past retention; see `PackageCollector.collect`."""
        packaging = self.packager.packaging
        self.packager.room.recount()
        return self._collector.collect(packaging.folder, retention, at) if packaging else 0

    def thin(self, keep: Retention, at: datetime) -> int:
        """Remove rows of history past retention; see `retention.history.thin`."""
        return retention_history.thin(self.db, keep, at, self.transaction)

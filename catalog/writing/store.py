"""The catalog, open for writing: its tables, packages and folders."""

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from catalog.database.queries import Row, Writer, to_json
from catalog.filesystem.operations import named
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.change import Change, ChangeResult
from catalog.model.finding import INTERNAL_ERROR_IN_INDEX
from catalog.model.setting import Retention
from catalog.model.values import ChangeOutcome, Trigger
from catalog.prompt_index import files as prompt_index_files
from catalog.prompt_index import query
from catalog.prompt_index.builder import EntryFailed, report
from catalog.prompt_index.history import USUAL, IndexHistory
from catalog.prompt_index.spec import IndexSpec
from catalog.reading.lookup import find_in_folder
from catalog.reading.skills import review
from catalog.text.humanize import iso
from catalog.writing import decision_file, decisions, retention
from catalog.writing.catalog_file import CatalogFile, migrated
from catalog.writing.decision_file import DecisionKeeper
from catalog.writing.decisions import Decision
from catalog.writing.events import Events
from catalog.writing.folder_ownership import FolderOwnership
from catalog.writing.links.keeper import LinkKeeper
from catalog.writing.package_repair import PackageRepair
from catalog.writing.packager import Packager
from catalog.writing.packages.builder import Key, Packaging
from catalog.writing.packages.inspection import list_packages
from catalog.writing.rows import derived
from catalog.writing.tables.removals import Removals
from catalog.writing.tables.roots import Roots
from catalog.writing.tables.run_outcomes import RunOutcomes
from catalog.writing.tables.skills import Skills
from catalog.writing.takeover import Takeover

log = logging.getLogger("skilldrop")


class Store:
    """The only interface for writers; one process opens it, and one thread uses it."""

    def __init__(self, db: Writer, file: CatalogFile | None = None) -> None:
        self.db = db
        self._file = file
        self.removals = Removals(db)
        self.roots = Roots(db)
        self.skills = Skills(db)
        self.outcomes = RunOutcomes(db)
        self.events = Events(db)
        self.indexes = IndexHistory(db)
        self.folders = FolderOwnership(db)
        self.packager = Packager(db)
        self.links = LinkKeeper(db, self.folders)
        path, lost = (file.path, file.lost) if file else (None, None)
        self.takeover = Takeover(db, self.packager, path, lost)
        self.repair = PackageRepair(db, self.packager, self.links, self.takeover)
        file_of_decisions = file.path.with_name(decision_file.NAME) if file else None
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
            self._file.close()
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

    # Changes and their publication

    def publish_into(
        self, packaging: Packaging, at: datetime, retention: Retention | None = None
    ) -> Iterator[int]:
        """Start publication, with the newest decisions; see `PackageRepair.repair_all`.

        Raises FolderNotOwned if the packages folder belongs to another catalog.
        """
        folder = packaging.folder
        self.folders.claim([folder])
        if folder.path.exists():
            with self.folders.opened(folder):
                pass  # a folder that was handed over gets its marker
        self.packager.retention = retention or Retention()
        packaging = replace(packaging, identity=self.folders.identity)
        self.packager.packaging = self.links.packaging = packaging
        self.set_health(packages_folder=str(folder.path))
        if self.takeover.is_due:
            self.takeover.begin(list_packages(folder.path), at)
        self.decisions.take_newer(at)
        return self.repair.repair_all(at)

    def apply(
        self, changes: Sequence[Change], *, trigger: Trigger, at: datetime, scan: int | None = None
    ) -> list[ChangeResult]:
        """Store and publish a batch of verdicts and removals; see `Packager.apply`.

        Published skills are placed in the directories of skills, unless one of these has trouble:
        then the next publication of indexes compares it as a whole.
        """
        results = self.packager.apply(changes, trigger=trigger, at=at, scan=scan)
        if not (self.takeover.is_unscanned or self.links.has_trouble):
            with suppress(Exception):  # no mistake of a verdict; the next publication raises it
                self._place()
        return results

    def _place(self) -> None:
        """Bring the directories of skills up to date. Raises NotPlaced."""
        if self.packager.packaging:
            self.links.update(self.packager.changed)
            self.packager.changed.clear()

    def publish_indexes(
        self,
        specs: Sequence[IndexSpec],
        folder: Path,
        at: datetime,
        keep: Retention = USUAL,
    ) -> list[str]:
        """Rebuild every index, and return the names of those whose text is new. Raises OSError.

        Nothing is done before the first scan of a catalog that replaces a lost one. The directories
        of skills are updated first; where that fails, the indexes stay as they are. The files
        themselves are compared, so missing or damaged ones are rewritten. Files of indexes that are
        no longer configured are removed, and then the skills that no index names.
        """
        self.packager.switch_current()  # an index names only packages that can be read
        if self.takeover.is_unscanned:
            return []
        self._place()
        with named(folder), self.folders.opened(OwnedFolder(folder, "index")) as opened:
            prompt_index_files.remove_index_files(opened, specs)
            changed = self._write_indexes(specs, opened, at, keep)
        if self.packager.packaging:
            self.links.withdraw()
            self.packager.withdraw()
        return [spec.name for spec in specs if spec.file_name in changed]

    def _write_indexes(
        self, specs: Sequence[IndexSpec], folder: int, at: datetime, keep: Retention
    ) -> set[str]:
        """Write the files of all indexes into an open folder; return the names of those written."""
        files: dict[str, bytes] = {}
        failed: dict[int, EntryFailed] = {}
        new = []
        for spec in specs:
            index = query.build_index(self.db, spec)
            failed |= index.failed
            since = self.indexes.published_at(spec, index)
            if since is None:
                new.append((spec, index))
            described = report(spec, index) | {"published_at": since or iso(at)}
            files |= prompt_index_files.files_of(spec, index, described)
        changed = prompt_index_files.write_whole(folder, files)
        for spec, index in new:
            self.indexes.record(spec, index, at, keep)
        self._note_failed(failed)
        return changed

    def _note_failed(self, failed: Mapping[int, EntryFailed]) -> None:
        """Store the findings of the skills whose entries failed, and log new ones."""
        codes = [INTERNAL_ERROR_IN_INDEX.code]
        wanted = {
            row: [INTERNAL_ERROR_IN_INDEX.at(str(failed[row[0]]))] if row[0] in failed else []
            for row in self.db.execute(_FAILED, [to_json(list(failed)), *codes]).fetchall()
        }
        for skill, root, path in derived.wrong_findings(self.db, codes, wanted):
            if error := failed.get(skill):
                log.error("%s/%s: %s", root, path, error, exc_info=error.__cause__)
        with self.db.transaction():
            derived.replace_findings(self.db, codes, wanted)

    # Decisions of people

    def pin(self, skill: str, version: str, at: datetime) -> list[Key]:
        """Pin a skill to a version and publish that; see `decisions.pin`."""
        return self._decided(lambda: decisions.pin(self.db, skill, version, iso(at)), at)

    def unpin(self, skill: str, at: datetime) -> list[Key]:
        """Unpin a skill and publish the present content of its folder; see `decisions.unpin`."""
        return self._decided(lambda: decisions.unpin(self.db, skill, iso(at)), at)

    def review(self, skill: str, version: str | None, decision: Decision) -> Row:
        """Store a decision on a version, publish its consequences, and return the version's row.

        See `decisions.decide`.
        """
        found = review.find(self.db, skill, version)
        at = datetime.fromisoformat(decision.decided_at)
        self._decided(lambda: decisions.decide(self.db, found, decision), at)
        return found

    def prefer(self, folder: str, at: datetime) -> str:
        """Give the skill of a folder its name, publish it and return its skill_id.

        See `decisions.prefer`.
        """
        skill = find_in_folder(self.db, folder)
        self._decided(lambda: decisions.prefer(self.db, skill, folder, iso(at)), at)
        return str(skill["skill_id"])

    def _decided(self, decide: Callable[[], Iterable[str]], at: datetime) -> list[Key]:
        """Publish the consequences of a decision of a person, and store it in the file, too."""
        again = self.packager.publish(decide, at)
        self.decisions.write()
        return again

    # Health and full scans

    def set_health(self, **fields: Any) -> None:
        """Set columns of the one health row: times as datetimes, failed work as Troubles."""
        settings = ", ".join(f"{name} = :{name}" for name in fields)
        values = {name: _in_health(value) for name, value in fields.items()}
        self.db.execute(f"UPDATE health SET {settings}", values)

    def count_overflow(self) -> None:
        """Count one more overflow of the system's event queue."""
        self.db.execute("UPDATE health SET overflows = overflows + 1")

    def begin_scan(self, trigger: Trigger, at: datetime) -> int:
        """Add a row for a full scan that begins, and return its id."""
        row = {"trigger": trigger, "started_at": iso(at)}
        return cast(int, self.db.table("scans").insert(row).last_pk)

    def finish_scan(
        self,
        scan: int,
        at: datetime,
        took_ms: float,
        seen: int,
        counts: Mapping[ChangeOutcome, int],
        missed_by_events: int,
    ) -> None:
        """Complete the row of a scan with its counts of skill folders."""
        with self.db.transaction():
            row = {"took_ms": round(took_ms, 1), "seen": seen, "missed_by_events": missed_by_events}
            self.db.table("scans").update(scan, row | dict(counts))
            self.db.execute(
                "UPDATE health SET last_full_scan = ?, missed_by_events = missed_by_events + ?",
                [iso(at), missed_by_events],
            )
            if seen < 10 * (counts.get("added", 0) + counts.get("updated", 0)):
                # Parts of an index that were written one after the other are all searched.
                for table in ("skills_fts", "skill_text_fts"):
                    self.db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    def drop_scan(self, scan: int) -> None:
        """Delete the row of a scan that changed nothing."""
        self.db.execute("DELETE FROM scans WHERE id = ?", [scan])

    # Upkeep

    def collect(self, keep: Retention, at: datetime) -> int:
        """Remove packages past retention; see `retention.collect`."""
        packaging = self.packager.packaging
        return retention.collect(self.db, packaging, keep, at) if packaging else 0

    def thin(self, keep: Retention, at: datetime) -> int:
        """Remove rows of history past retention; see `retention.thin`."""
        return retention.thin(self.db, keep, at)


_FAILED = """
    SELECT id, root, path FROM skills WHERE id IN (SELECT value FROM json_each(?))
        OR id IN (SELECT skill FROM findings WHERE code = ?)
"""


def _in_health(value: Any) -> Any:
    """Return a value as its column of the health row has it."""
    if isinstance(value, datetime):
        return iso(value)
    return to_json([asdict(each) for each in value]) if isinstance(value, list | tuple) else value

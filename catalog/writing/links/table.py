"""Rows of the directories of skills, and the entries that each should have."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from catalog.database import sql
from catalog.database.queries import Database
from catalog.database.writer import Writer
from catalog.model.selection import LinkedDirectory, Selection
from catalog.prompt_index import query
from catalog.reading import agent_entries

Origin: TypeAlias = Literal["data", "settings", "command"]


class DirectoryRow(NamedTuple):
    """Stored directory."""

    id: int
    spec: LinkedDirectory
    origin: Origin
    is_leaving: bool
    trouble: str | None


class LinkRow(NamedTuple):
    """Stored link or copy.

    The target is a path, or `<skill_id>/<version>` for a copy. The former one is stored until a
    crash can no longer leave it; it is empty where there was no entry.
    """

    name: str
    skill_id: str
    target: str
    former_target: str | None = None
    is_linked: bool = False

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets that our entry may have, also after a crash; none if its name is taken."""
        return tuple(filter(None, (self.target, self.former_target))) if self.is_linked else ()

    @property
    def is_new(self) -> bool:
        """Whether its name was free when it was stored, and it may not have been made since."""
        return self.former_target == ""

    @property
    def may_be_folder(self) -> bool:
        """Whether our entry may be a folder."""
        return any(map(is_package_path, self.targets))


class Links:
    """The tables of links."""

    def __init__(self, db: Writer) -> None:
        """Take the catalog."""
        self._db = db

    def configure(self, own: str, configured: Sequence[LinkedDirectory]) -> None:
        """Store the directory beside the catalog and those of the settings.

        The directories that the settings no longer have are marked as leaving. Links beside a
        catalog that was moved or copied from elsewhere are no longer its own.
        """
        with self._db.transaction():
            self._db.execute(
                "DELETE FROM linked_directories WHERE origin = 'data' AND path != ?", [own]
            )
            self._db.execute(
                "UPDATE linked_directories SET is_leaving = 1 WHERE origin = 'settings'"
                " AND path NOT IN (SELECT value FROM json_each(?))",
                [sql.to_json([spec.path for spec in configured])],
            )
            self._put(LinkedDirectory(own, copy=True), "data")
            for spec in configured:
                self._put(spec, "settings")

    def add(self, spec: LinkedDirectory) -> None:
        """Store a directory of a command, or its new filter."""
        with self._db.transaction():
            self._put(spec, "command")

    def _put(self, spec: LinkedDirectory, origin: Origin) -> None:
        self._db.execute(
            "INSERT INTO linked_directories (path, origin, index_name, filter, is_copy)"
            " VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET origin = excluded.origin, is_leaving = 0,"
            " index_name = excluded.index_name, filter = excluded.filter,"
            " is_copy = excluded.is_copy",
            [spec.path, origin, spec.index, sql.to_json(spec.selection._asdict()), spec.copy],
        )

    def leave(self, path: str) -> None:
        """Mark a directory as leaving: its links are to be removed."""
        self._db.execute("UPDATE linked_directories SET is_leaving = 1 WHERE path = ?", [path])

    def forget(self, directory: DirectoryRow) -> None:
        """Remove a directory with its links."""
        with self._db.transaction():
            self._db.execute("DELETE FROM linked_directories WHERE id = ?", [directory.id])

    def set_trouble(self, directory: DirectoryRow, trouble: str | None) -> None:
        """Store why a directory cannot be updated, or None if it can be."""
        if trouble != directory.trouble:  # an UPDATE takes the write lock even for nothing
            self._db.execute(
                "UPDATE linked_directories SET trouble = ? WHERE id = ?", [trouble, directory.id]
            )

    def begin(self, directory: DirectoryRow, rows: Iterable[LinkRow]) -> None:
        """Store new links and new targets, before the links are made."""
        self._upsert(directory, rows)

    def finish(
        self, directory: DirectoryRow, rows: Iterable[LinkRow], gone: Collection[str]
    ) -> None:
        """Store which links exist, and forget those that are gone."""
        self._upsert(directory, rows, gone)

    def _upsert(
        self, directory: DirectoryRow, rows: Iterable[LinkRow], gone: Collection[str] = ()
    ) -> None:
        values = [(directory.id, *row) for row in rows]
        if not values and not gone:
            return
        with self._db.transaction():
            self._db.conn.executemany(
                "DELETE FROM links WHERE directory = ? AND name = ?",
                [(directory.id, name) for name in gone],
            )
            self._db.conn.executemany(_UPSERT, values)


def directories(db: Database) -> list[DirectoryRow]:
    """Return the directories of links; that beside the catalog comes first."""
    return [
        DirectoryRow(
            row["id"],
            LinkedDirectory(
                row["path"], row["index_name"], **json.loads(row["filter"]), copy=row["is_copy"]
            ),
            row["origin"],
            bool(row["is_leaving"]),
            row["trouble"],
        )
        for row in db.query(
            "SELECT * FROM linked_directories ORDER BY origin != 'data', is_leaving DESC, path"
        )
    ]


def stored_links(
    db: Database, directory: DirectoryRow, skill_ids: Collection[str] | None = None
) -> dict[str, LinkRow]:
    """Return the links of a directory by name: all, or those of some skill_ids."""
    some = "" if skill_ids is None else " AND skill_id IN (SELECT value FROM json_each(?))"
    rows = db.execute(
        "SELECT name, skill_id, target, former_target, is_linked FROM links"
        f" WHERE directory = ?{some} ORDER BY name",
        [directory.id, *([] if skill_ids is None else [sql.to_json(sorted(skill_ids))])],
    )
    return {row[0]: LinkRow(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows}


def placed(db: Database, skill_ids: Collection[str] | None = None) -> dict[str, str]:
    """Return the paths of the copies beside the catalog by name: all, or of some skill_ids."""
    return {
        row.name: f"{directory.spec.path}/{row.name}"
        for directory in directories(db)
        if directory.origin == "data"
        for row in stored_links(db, directory, skill_ids).values()
        if row.is_linked
    }


def is_package_path(target: str) -> bool:
    """Return whether a target is that of a copy; the targets of links are other paths."""
    return not target.startswith(("/", "."))


def version_of(db: Database, package_path: str) -> int | None:
    """Return the version of a package; None if it no longer has it."""
    row = db.execute("SELECT id FROM versions WHERE package_path = ?", [package_path]).fetchone()
    return row[0] if row else None


def doubt(db: Database, package_path: str) -> None:
    """Let a package be the next one that is verified."""
    db.execute("UPDATE versions SET verified_at = NULL WHERE package_path = ?", [package_path])


def counts(db: Database, directory: DirectoryRow) -> tuple[int, tuple[str, ...]]:
    """Return the number of links in a directory, and the names that others have taken."""
    (linked,) = db.execute(
        "SELECT count(*) FROM links WHERE directory = ? AND is_linked = 1", [directory.id]
    ).fetchone()
    taken = db.execute(
        "SELECT name FROM links WHERE directory = ? AND is_linked = 0 ORDER BY name", [directory.id]
    )
    return linked, tuple(name for (name,) in taken.fetchall())


_UPSERT = """
    INSERT INTO links (directory, name, skill_id, target, former_target, is_linked)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (directory, name) DO UPDATE SET skill_id = excluded.skill_id,
        target = excluded.target, former_target = excluded.former_target,
        is_linked = excluded.is_linked
"""


class Packages(NamedTuple):
    """The packages folder, and whether skills in folders of the roots have no packages."""

    folder: Path
    in_place: bool


def wanted_entries(
    db: Database, directory: DirectoryRow, skill_ids: Collection[str] | None = None
) -> Iterator[LinkRow]:
    """Yield the entries that a directory should have, in the order of an index.

    Copies have the current version. Links lead to the copies beside the catalog, so that a new
    version needs no new link. With skill_ids they are only those of these skills. Raises
    NotInCatalog if the index whose filter counts is no longer configured.
    """
    if directory.is_leaving:
        return
    copies = {} if directory.spec.copy else placed(db, skill_ids)
    for entry in agent_entries.entries(db, _selection(db, directory.spec), skill_ids):
        target = entry.package_path
        if target and not directory.spec.copy:
            target = copies.get(entry.name)
        if target:
            yield LinkRow(entry.name, entry.skill_id, target)


def _selection(db: Database, spec: LinkedDirectory) -> Selection:
    return spec.selection if spec.index is None else query.index_spec(db, spec.index).selection

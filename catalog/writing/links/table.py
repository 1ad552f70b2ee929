"""Rows of the directories of skills, and the entries that each should have."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from catalog.database.queries import Database, Writer, to_json
from catalog.model.naming import CURRENT
from catalog.model.setting import FINDER, LinkedDirectory
from catalog.prompt_index import query
from catalog.reading.skills import fit, offered
from catalog.reading.skills.offered import AgentEntry

Origin: TypeAlias = Literal["data", "settings", "command"]


class DirectoryRow(NamedTuple):
    """Stored directory."""

    id: int
    spec: LinkedDirectory
    origin: Origin
    is_leaving: bool
    trouble: str | None

    @property
    def is_own(self) -> bool:
        """Whether it is the directory beside the catalog."""
        return self.origin == "data"


class LinkRow(NamedTuple):
    """Stored link or copy.

    The target is a path, or `<skill_id>/<version>` for a copy. The former one is stored until a
    crash can no longer leave it; it is empty where there was no entry. A finder has its text, and
    `finder:` with the hash of that as its target.
    """

    name: str
    skill_id: str
    target: str
    former_target: str | None = None
    is_linked: bool = False
    skill_md: str | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets that our entry may have, also after a crash; none if its name is taken."""
        return tuple(filter(None, (self.target, self.former_target))) if self.is_linked else ()

    @property
    def is_new(self) -> bool:
        """Whether its name was free when it was stored, and it may not have been made since."""
        return self.former_target == ""

    @property
    def is_copy(self) -> bool:
        """Whether the entry should be a folder."""
        return is_package_path(self.target)


def is_package_path(target: str) -> bool:
    """Return whether a target is that of a copy, not of a link."""
    return not target.startswith(("/", "."))


def configure(db: Writer, own: str, configured: Sequence[LinkedDirectory]) -> None:
    """Store the directory beside the catalog and those of the settings.

    The directories that the settings no longer have are marked as leaving. Links beside a catalog
    that was moved or copied from elsewhere are no longer its own.
    """
    with db.transaction():
        db.execute("DELETE FROM linked_directories WHERE origin = 'data' AND path != ?", [own])
        db.execute(
            "UPDATE linked_directories SET is_leaving = 1 WHERE origin = 'settings'"
            " AND path NOT IN (SELECT value FROM json_each(?))",
            [to_json([spec.path for spec in configured])],
        )
        put(db, LinkedDirectory(own, copy=True), "data")
        for spec in configured:
            put(db, spec, "settings")


def put(db: Writer, spec: LinkedDirectory, origin: Origin) -> None:
    """Store a directory, or its new filter."""
    db.execute(
        "INSERT INTO linked_directories (path, origin, index_name, filter, is_copy, agent, finder)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET origin = excluded.origin, is_leaving = 0,"
        " index_name = excluded.index_name, filter = excluded.filter, is_copy = excluded.is_copy,"
        " agent = excluded.agent, finder = excluded.finder",
        [
            *(spec.path, origin, spec.index, to_json(spec.selection._asdict()), spec.copy),
            *(spec.agent, spec.finder if spec.fit else None),
        ],
    )


def leave(db: Writer, directory: DirectoryRow) -> DirectoryRow:
    """Mark a directory as leaving: its entries are to be removed."""
    db.execute("UPDATE linked_directories SET is_leaving = 1 WHERE id = ?", [directory.id])
    return directory._replace(is_leaving=True)


def forget(db: Writer, directory: DirectoryRow) -> None:
    """Remove a directory with its entries."""
    db.execute("DELETE FROM linked_directories WHERE id = ?", [directory.id])


def set_trouble(db: Writer, directory: DirectoryRow, trouble: str | None) -> None:
    """Store why a directory cannot be updated, or None if it can be."""
    if trouble != directory.trouble:  # an UPDATE takes the write lock even for nothing
        db.execute(
            "UPDATE linked_directories SET trouble = ? WHERE id = ?", [trouble, directory.id]
        )


def store(
    db: Writer, directory: DirectoryRow, rows: Iterable[LinkRow], gone: Collection[str] = ()
) -> None:
    """Store entries, before they are made and after, and forget those that are gone."""
    values = [(directory.id, *row) for row in rows]
    if not values and not gone:
        return
    with db.transaction():
        db.conn.executemany(
            "DELETE FROM links WHERE directory = ? AND name = ?",
            [(directory.id, name) for name in gone],
        )
        db.conn.executemany(_UPSERT, values)


_UPSERT = """
    INSERT INTO links (directory, name, skill_id, target, former_target, is_linked, skill_md)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (directory, name) DO UPDATE SET skill_id = excluded.skill_id,
        target = excluded.target, former_target = excluded.former_target,
        is_linked = excluded.is_linked, skill_md = excluded.skill_md
"""


TAKEN = """
    SELECT name FROM links INDEXED BY links_missing WHERE is_linked = 0
        AND directory = (SELECT id FROM linked_directories WHERE origin = 'data') ORDER BY name
"""


def directories(db: Database) -> list[DirectoryRow]:
    """Return the directories of skills; that beside the catalog comes first."""
    return [
        DirectoryRow(
            row["id"],
            LinkedDirectory(
                row["path"],
                row["index_name"],
                **json.loads(row["filter"]),
                copy=row["is_copy"],
                fit=row["finder"] is not None,
                finder=row["finder"] or FINDER,
                **{"for": row["agent"]},
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
    """Return the entries of a directory by name: all, or those of some skill_ids."""
    wanted = "" if skill_ids is None else " AND skill_id IN (SELECT value FROM json_each(?))"
    index = "directory" if skill_ids is None else "skill"
    rows = db.execute(
        "SELECT name, skill_id, target, former_target, is_linked, skill_md FROM links"
        f" INDEXED BY links_by_{index} WHERE directory = ?{wanted} ORDER BY name",
        [directory.id, *([] if skill_ids is None else [to_json(sorted(skill_ids))])],
    )
    return {row[0]: LinkRow(row[0], row[1], row[2], row[3], bool(row[4]), row[5]) for row in rows}


def wanted_entries(
    db: Database, directory: DirectoryRow, skill_ids: Collection[str] | None = None
) -> Iterator[LinkRow]:
    """Yield the entries that a directory should have, in the order of an index.

    Copies have the current version. Links lead to the copies beside the catalog, so that a new
    version needs no new link; those of skills that only users may start, which are not there, lead
    to `current` among the packages. With skill_ids they are only those of these skills. Raises
    NotInCatalog if the index whose filter counts is no longer configured.
    """
    if directory.is_leaving:
        return
    spec, placed = directory.spec, {}
    own, *_ = directories(db)
    if not spec.copy:
        rows = stored_links(db, own, skill_ids).values()
        placed = {row.name: f"{own.spec.path}/{row.name}" for row in rows if row.is_linked}
    selection = query.index_spec(db, spec.index).selection if spec.index else spec.selection
    among = offered.IN_INDEX if spec.index else offered.allowed_for(spec.agent)
    entries: Iterable[AgentEntry] = offered.entries(db, selection, skill_ids, among)
    if spec.fit:
        entries, skill_md = fit.fitting(db, spec, Path(own.spec.path).parent, list(entries))
        if skill_md:
            digest = hashlib.sha256(skill_md.encode()).hexdigest()
            yield LinkRow(spec.finder, "", f"finder:{digest}", skill_md=skill_md)
    for entry in entries:
        target = entry.package_path
        if target and not spec.copy:
            packages = Path(own.spec.path).with_name("packages")
            current = f"{packages}/{entry.skill_id}/{CURRENT}"
            target = current if entry.is_for_users else placed.get(entry.name)
        if target:
            yield LinkRow(entry.name, entry.skill_id, target)

"""Recovery of a damaged catalog: its file is kept aside, and its readable history brought over.

Everything but history is made from the roots, so nothing here has to be complete: each skill is
read and judged again, and rows that contradict one another are left behind.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from sqlite_utils import Database

from catalog.database.sql import columns, insert
from catalog.model.naming import version_name
from catalog.reading import versions
from catalog.text.times import iso
from catalog.writing.rows import dialects, fulltext, mapping

Values: TypeAlias = tuple[Any, ...]
TABLES = (
    "roots",
    "skills",
    "versions",
    "files",
    "findings",
    "scans",
    "ingestions",
    "listeners",
    "requests",
    "indexes",
    "index_texts",
    "index_builds",
    "outcomes",
    "memory_writes",
    "step_traces",
    "outcome_rejections",
    "recoveries",
)
"""The tables that are brought over, parents first; all others follow from these."""
BATCH = 500
_MAGIC = b"SQLite format 3\0"
_FARTHEST = 2**40
"""Row ids up to which readable rows are looked for behind unreadable ones."""


def aside_of(path: Path, at: datetime) -> Path:
    """Return a name that is free, and says when, for a damaged catalog."""
    base = f"{path.name}.damaged-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
    name, count = base, 1
    while os.path.lexists(path.with_name(name)):
        count += 1
        name = f"{base}-{count}"
    return path.with_name(name)


def exchange(path: Path, aside: Path, new: Path) -> None:
    """Keep a damaged catalog with its log under another name, and put a new one in its place.

    One of them is there at every moment, where the file system has hard links. Raises OSError.
    """
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{ending}").rename(aside.with_name(f"{aside.name}{ending}"))
    with suppress(FileNotFoundError):
        try:
            os.link(path, aside, follow_symlinks=False)
        except PermissionError:  # there are no hard links here
            path.rename(aside)
    new.replace(path)


def recover(db: Database, damaged: Path, aside: Path, why: str, at: datetime) -> dict[str, int]:
    """Bring over what can be read of a damaged catalog, and note it; return rows by table.

    db is a new catalog in which nothing is written yet, aside where the damaged one will be kept.
    Raises sqlite3.Error and OSError where that fails.
    """
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("BEGIN IMMEDIATE")
    try:
        for table, names, batch in _readable(db, damaged):
            _write(db, table, names, batch)
        _add_lost_parents(db)
        _drop_incomplete(db)
        _keep_holds(db)
        _drop_contradictions(db)
        _rewind_listeners(db)
        _doubt_skills(db)
        _write_derived(db)
        saved = {
            table: int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in ("skills", "versions", "ingestions", "index_builds", "outcomes")
        }
        db.execute(
            insert("recoveries", ("recovered_at", "why", "damaged_file", *saved)),
            [iso(at), why, aside.name, *saved.values()],
        )
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise
    finally:
        db.execute("PRAGMA foreign_keys = ON")
    return saved


# Reading past damage


def _readable(db: Database, damaged: Path) -> Iterator[tuple[str, list[str], list[Values]]]:
    """Yield the table, columns and rows of each readable part of a damaged file."""
    try:
        with (
            _with_header(damaged) as readable,
            closing(sqlite3.connect(f"{readable.absolute().as_uri()}?mode=ro", uri=True)) as source,
        ):
            source.text_factory = lambda text: text.decode("utf-8", "replace")
            source.execute("PRAGMA cell_size_check = ON")
            for table in TABLES:
                with suppress(sqlite3.DatabaseError):
                    names = [
                        name for name in _columns(db.conn, table) if name in _columns(source, table)
                    ]
                    for batch in _batches(source, table, names) if names else ():
                        yield table, names, batch
    except sqlite3.DatabaseError:
        return  # its first page is lost, and with it where the others are


@contextmanager
def _with_header(damaged: Path) -> Iterator[Path]:
    """Yield the damaged file, or a copy with the bytes by which SQLite knows its files."""
    with damaged.open("rb") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            yield damaged
            return
    with TemporaryDirectory(dir=damaged.parent, prefix=".recovering-") as beside:
        copy = Path(beside, damaged.name)
        shutil.copyfile(damaged, copy)
        log = damaged.with_name(f"{damaged.name}-wal")
        if log.exists():
            shutil.copyfile(log, copy.with_name(log.name))
        with copy.open("r+b") as file:
            file.write(_MAGIC)
        yield copy


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _batches(
    source: sqlite3.Connection, table: str, names: Sequence[str]
) -> Iterator[list[Values]]:
    batch: list[Values] = []
    for row in _rows(source, table, names):
        batch.append(row)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    yield batch


def _rows(source: sqlite3.Connection, table: str, names: Sequence[str]) -> Iterator[Values]:
    """Yield the rows of a table in order of their ids, stepping over those on damaged pages."""
    query = (
        f"SELECT rowid, {columns(names)} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
    )
    at: int | None = 0
    while at is not None:
        try:
            for row in source.execute(query, [at]):
                yield row[1:]
                at = max(at, row[0] + 1)  # an old page in the place of a newer one leads back
            return
        except sqlite3.DatabaseError:
            at = _beyond(source, f"{query} LIMIT 1", at)


def _beyond(source: sqlite3.Connection, query: str, at: int) -> int | None:
    """Return an id after an unreadable one from which rows can be read again."""

    def is_readable(start: int) -> bool:
        try:
            source.execute(query, [start]).fetchall()
        except sqlite3.DatabaseError:
            return False
        return True

    step = 1
    while not is_readable(at + step):
        step *= 2
        if step > _FARTHEST:
            return None
    first, last = at + step // 2, at + step
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if is_readable(middle) else (middle, last)
    return last


def _write(db: Database, table: str, names: Sequence[str], batch: Sequence[Values]) -> None:
    statement = insert(table, names).replace("INSERT", "INSERT OR IGNORE", 1)
    for row in batch:
        with suppress(sqlite3.IntegrityError):  # a value that a damaged page made up
            db.conn.execute(statement, row)


# Agreement


def _add_lost_parents(db: Database) -> None:
    """Give versions whose skill was not readable a row again, by what was noted of them."""
    db.execute(
        "INSERT OR IGNORE INTO roots (path, level, position, acceptance, profiles,"
        " judged_by, configured)"
        " SELECT DISTINCT root, 'project', 0, 'lenient', '[]', '', 0 FROM"
        " (SELECT root FROM skills UNION SELECT root FROM ingestions)"
    )
    for version in list(db.query(_ORPHANS)):
        fields = versions.restored(version) | {
            "id": version["skill"],
            "root": version["root"],
            "path": version["place"],
            "level": version["level"],
            "status": "removed",
            "first_seen": version["ingested_at"],
            "last_changed": version["ingested_at"],
        }
        db.execute(
            insert("skills", list(fields)).replace("INSERT", "INSERT OR IGNORE", 1),
            list(fields.values()),
        )


def _drop_incomplete(db: Database) -> None:
    """Leave behind versions that lack files, or whose JSON cannot be read."""
    db.execute(
        "DELETE FROM versions WHERE CASE WHEN NOT json_valid(file_inventory)"
        " OR NOT json_valid(described) OR NOT json_valid(frontmatter) THEN 1"
        " ELSE (SELECT count(*) FROM files WHERE version = versions.id)"
        " != ifnull(json_extract(file_inventory, '$.totalFiles'), 0) END"
    )


def _keep_holds(db: Database) -> None:
    """Hold skills on at versions that are lost, of which their rows tell all that is known.

    Such a version has no content, and can be neither published nor returned to.
    """
    for skill in list(db.query(_HELD_AT_LOST)):
        _, _, name = (skill["package_path"] or "").partition("/")
        (newest,) = db.execute(
            "SELECT ifnull(max(version), '') FROM versions WHERE skill_id = ?", [skill["skill_id"]]
        ).fetchone()
        at = datetime.fromisoformat(skill["last_changed"])
        version = mapping.without_content(skill) | {"version": name or version_name(at, newest)}
        db.execute("DELETE FROM files WHERE version = ?", [version["id"]])
        db.execute(insert("versions", list(version)), list(version.values()))
        db.execute(
            "UPDATE skills SET current_version_id = pinned_version_id, seen_digest = NULL"
            " WHERE id = ?",
            [skill["id"]],
        )


def _drop_contradictions(db: Database) -> None:
    """Remove references to rows that are not there, and rows that mean nothing without them."""
    while broken := db.execute("PRAGMA foreign_key_check").fetchall():
        for table, row, _, number in broken:
            column, needed = db.execute(
                'SELECT k."from", t."notnull" FROM pragma_foreign_key_list(?) AS k'
                ' JOIN pragma_table_info(?) AS t ON t.name = k."from" WHERE k.id = ?',
                [table, table, number],
            ).fetchone()
            db.execute(
                f"DELETE FROM {table} WHERE rowid = ?"
                if needed
                else f'UPDATE {table} SET "{column}" = NULL WHERE rowid = ?',
                [row],
            )


def _rewind_listeners(db: Database) -> None:
    """Let listeners go on behind the newest recovered event: the next ids are used again."""
    db.execute(
        "UPDATE listeners SET last_event ="
        " min(last_event, (SELECT ifnull(max(id), 0) FROM ingestions))"
    )


def _doubt_skills(db: Database) -> None:
    """Let the next scan judge every skill again; one whose present version is lost is gone."""
    db.execute(
        "UPDATE skills SET fingerprint = '', status = CASE WHEN current_version_id IS NULL"
        " AND status IN ('active', 'shadowed') THEN 'removed' ELSE status END,"
        " package_path = CASE WHEN current_version_id IS NULL THEN NULL"
        " ELSE package_path END"
    )


def _write_derived(db: Database) -> None:
    """Write what is searched of the skills that are there, and what they declare."""
    for version in list(db.query(_PRESENT)):
        paths = [
            path
            for (path,) in db.execute(
                "SELECT path FROM files WHERE version = ? ORDER BY id", [version["id"]]
            )
        ]
        fulltext.replace(db.conn, [mapping.restored_text(version["skill"], version, paths)])
        dialects.write(db.conn, {version["skill"]: dialects.restored(version)})


_ORPHANS = """
    SELECT v.*, i.root, i.path AS place, r.level, max(v.id)
    FROM versions AS v
    JOIN ingestions AS i ON i.id = (SELECT max(id) FROM ingestions WHERE skill = v.skill)
    JOIN roots AS r ON r.path = i.root
    WHERE v.skill NOT IN (SELECT id FROM skills) AND json_valid(v.described)
        AND v.described != '{}'
    GROUP BY v.skill
"""
_HELD_AT_LOST = """
    SELECT * FROM skills WHERE pinned_version_id NOT IN (SELECT id FROM versions)
        AND skill_md_name IS NOT NULL
"""
_PRESENT = """
    SELECT v.* FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status IN ('active', 'shadowed')
"""

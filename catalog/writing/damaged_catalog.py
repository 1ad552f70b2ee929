"""A damaged catalog: it is put aside, and a new one gets its readable history."""

import json
import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from catalog.database.queries import Database
from catalog.database.sql import columns, to_json
from catalog.database.writer import Writer
from catalog.model.naming import version_name
from catalog.model.values import Json
from catalog.reading import versions
from catalog.text.confusables import skeleton
from catalog.text.humanize import iso
from catalog.writing.events import is_of_memories, newest_events
from catalog.writing.rows import dialects, fulltext, mapping, references

log = logging.getLogger("skilldrop")

RECOVERING = ".recovering-"
"""Prefix of the directories beside a catalog in which a recovery works."""
KEPT = 3
"""Number of damaged catalogs to keep; each is as large as the catalog was."""
_ASIDE = r"\.damaged-(\d{8}-\d{6})(?:-(\d+))?"
"""Suffix that `aside_of` adds to the name of a catalog: the time, and a number for ties."""


def aside_of(path: Path, at: datetime, kind: str = "damaged") -> Path:
    """Return an unused path for a catalog that is put aside, with the time in its name."""
    base = f"{path.name}.{kind}-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
    name, count = base, 1
    while os.path.lexists(path.with_name(name)):
        count += 1
        name = f"{base}-{count}"
    return path.with_name(name)


def sweep(path: Path) -> None:
    """Remove directories of recoveries that were killed, which hold nothing but a catalog."""
    names = {f"{path.name}{ending}" for ending in ("", "-journal", "-wal", "-shm")}
    for folder in path.parent.glob(f"{RECOVERING}*"):
        with suppress(OSError):
            if not folder.is_symlink() and names.issuperset(os.listdir(folder)):
                shutil.rmtree(folder)


def exchange(path: Path, aside: Path, new: Path) -> None:
    """Rename a damaged catalog with its log, and move a new one into its place.

    On file systems with hard links, a catalog exists at every moment. Raises OSError.
    """
    put_log_aside(path, aside)
    with suppress(FileNotFoundError):
        try:
            os.link(path, aside, follow_symlinks=False)
        except PermissionError:  # no hard links on this file system
            path.rename(aside)
    new.replace(path)


def put_log_aside(path: Path, aside: Path) -> None:
    """Rename the log of a catalog, before the catalog itself: a new one must not find it."""
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{ending}").rename(aside.with_name(f"{aside.name}{ending}"))


def keep_newest(path: Path, aside: Path) -> None:
    """Remove all but the newest damaged catalogs beside a catalog, and log the removed ones.

    `aside`, the one just renamed, stays even if the clock was set back.
    """
    copies: list[tuple[str, int, str]] = []
    with os.scandir(path.parent) as entries:
        for entry in entries:
            match = re.fullmatch(re.escape(path.name) + _ASIDE, entry.name)
            if match and entry.name != aside.name and entry.is_file(follow_symlinks=False):
                copies.append((match[1], int(match[2] or 1), entry.name))
    for *_, name in sorted(copies)[: -(KEPT - 1)]:
        try:
            path.with_name(name).unlink()
        except OSError as error:
            log.warning("%s cannot be removed: %s", path.with_name(name), error.strerror)
            continue
        for ending in ("-wal", "-shm"):
            with suppress(OSError):
                path.with_name(f"{name}{ending}").unlink()
        log.warning(
            "removed %s: only the newest %d damaged catalogs are kept", path.with_name(name), KEPT
        )


Values: TypeAlias = tuple[Any, ...]
TABLES = (
    "health",
    "roots",
    "skills",
    "texts",
    "versions",
    "files",
    "reviews",
    "findings",
    "scans",
    "ingestions",
    "requests",
    "indexes",
    "index_texts",
    "index_builds",
    "outcomes",
    "memory_writes",
    "step_traces",
    "outcome_rejections",
    "outcome_files",
    "linked_directories",
    "links",
)
"""Recovered tables, parents first; all others are derived from these."""
BATCH = 500
_MAGIC = b"SQLite format 3\0"
_FARTHEST = 2**40
"""Row ids up to which the search for readable rows continues after unreadable ones."""


def readable_rows(
    new: sqlite3.Connection, damaged: Path
) -> Iterator[tuple[str, list[str], list[Values]]]:
    """Yield the table, columns and rows of each readable part of a damaged file."""
    try:
        with (
            _with_header(damaged) as file,
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
        ):
            source.text_factory = lambda text: text.decode("utf-8", "replace")
            source.execute("PRAGMA cell_size_check = ON")
            for table in TABLES:
                with suppress(sqlite3.DatabaseError):
                    present = _columns(source, table)
                    names = [name for name in _columns(new, table) if name in present]
                    for batch in _batches(source, table, names) if names else ():
                        yield table, names, batch
    except sqlite3.DatabaseError:
        return  # without its first page, no table can be found


@contextmanager
def _with_header(damaged: Path) -> Iterator[Path]:
    """Yield the damaged file, or a copy with the header that SQLite expects."""
    with damaged.open("rb") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            yield damaged
            return
    with TemporaryDirectory(dir=damaged.parent, prefix=RECOVERING) as folder:
        copy = Path(folder, damaged.name)
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
    """Yield the rows of a table in order of their ids, and skip those on damaged pages."""
    query = (
        f"SELECT rowid, {columns(names)} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
    )
    start: int | None = 0
    while start is not None:
        try:
            for row in source.execute(query, [start]):
                yield row[1:]
                start = max(start, row[0] + 1)  # a stale page can lead back to earlier rows
            return
        except sqlite3.DatabaseError:
            start = _next_readable(source, f"{query} LIMIT 1", start)


def _next_readable(source: sqlite3.Connection, query: str, unreadable: int) -> int | None:
    """Return the id after an unreadable one from which rows can be read again."""

    def is_readable(start: int) -> bool:
        try:
            source.execute(query, [start]).fetchall()
        except sqlite3.DatabaseError:
            return False
        return True

    step = 1
    while not is_readable(unreadable + step):
        step *= 2
        if step > _FARTHEST:
            return None
    first, last = unreadable + step // 2, unreadable + step
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if is_readable(middle) else (middle, last)
    return last


def recover(db: Writer, damaged: Path, aside: Path, reason: str, at: datetime) -> dict[str, int]:
    """Copy the readable rows of a damaged catalog, and record that; return row counts by table.

    `db` is a new, empty catalog; `aside` is the future path of the damaged one. Raises
    sqlite3.Error and OSError.
    """
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        with db.transaction():
            for table, names, batch in readable_rows(db.conn, damaged):
                _write(db, table, names, batch)
            _add_lost_parents(db)
            _drop_incomplete(db)
            _keep_pins(db)
            _drop_contradictions(db)
            _rewind_listeners(db)
            _doubt_skills(db)
            _retire_packages(db, at)
            _write_derived(db)
            saved = {
                table: int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for table in (*_COUNTED, "reviews")
            }
            recovery: dict[str, Json] = {
                "recovered_at": iso(at),
                "reason": reason,
                "damaged_file": aside.name,
                **{table: saved[table] for table in _COUNTED},
            }
            db.execute(
                "UPDATE health SET recoveries = json_insert(recoveries, '$[#]', json(?))",
                [to_json(recovery)],
            )
    finally:
        db.execute("PRAGMA foreign_keys = ON")
    return saved


def _write(db: Writer, table: str, names: Sequence[str], batch: Sequence[Values]) -> None:
    if table == "health":  # has its row already
        for row in batch:
            _keep_health(db, dict(zip(names, row, strict=True)))
        return
    # Plain SQL: a damaged catalog may have millions of rows, and each may be invalid.
    values = ", ".join("?" * len(names))
    statement = f"INSERT OR IGNORE INTO {table} ({columns(names)}) VALUES ({values})"
    for row in batch:
        with suppress(sqlite3.IntegrityError):  # an invalid value from a damaged page
            db.conn.execute(statement, row)


def _keep_health(db: Database, health: Mapping[str, Any]) -> None:
    """Keep what the health row knows of the past; the rest is about the present."""
    for name in ("recoveries", "delivered"):
        with suppress(ValueError, TypeError, KeyError):
            json.loads(health[name])
            db.execute(f"UPDATE health SET {name} = ?", [health[name]])


def _add_lost_parents(db: Writer) -> None:
    """Restore the rows of unreadable skills from their versions and ingestions."""
    db.execute(
        "INSERT OR IGNORE INTO roots (path, level, position, acceptance, profiles,"
        " judged_by, configured)"
        " SELECT DISTINCT root, 'project', 0, 'lenient', '[]', '', 0 FROM"
        " (SELECT root FROM skills UNION SELECT root FROM ingestions)"
    )
    for version in list(db.query(_ORPHANS)):
        fields = versions.restored(version) | {
            "skeleton": skeleton(version["skill_id"]),
            "id": version["skill"],
            "root": version["root"],
            "path": version["place"],
            "level": version["level"],
            "status": "removed",
            "first_seen": version["ingested_at"],
            "last_changed": version["ingested_at"],
        }
        db.table("skills").insert(fields, ignore=True)


def _drop_incomplete(db: Database) -> None:
    """Drop versions with missing files or unreadable texts."""
    db.execute(
        "DELETE FROM versions WHERE id IN (SELECT id FROM version_contents AS v"
        " WHERE CASE WHEN NOT json_valid(file_inventory)"
        " OR NOT json_valid(described) OR NOT json_valid(frontmatter) THEN 1"
        " ELSE (SELECT count(*) FROM files WHERE version = v.id)"
        " != ifnull(json_extract(file_inventory, '$.totalFiles'), 0)"
        " OR skill_md_content = '' AND json_extract(file_inventory, '$.hasSkillMd') END)"
    )


def _keep_pins(db: Writer) -> None:
    """Keep pins to lost versions: restore such a version from the row of its skill.

    It has no content, so it cannot be published or pinned again.
    """
    for skill in list(db.query(_PINNED_TO_LOST)):
        _, _, name = (skill["package_path"] or "").partition("/")
        (newest,) = db.execute(
            "SELECT ifnull(max(version), '') FROM versions WHERE skill_id = ?", [skill["skill_id"]]
        ).fetchone()
        at = datetime.fromisoformat(skill["last_changed"])
        row = mapping.without_content(skill) | {"version": name or version_name(at, newest)}
        db.execute("DELETE FROM files WHERE version = ?", [row["id"]])
        db.table("versions").insert(row)
        db.execute(
            "UPDATE skills SET current_version_id = pinned_version_id, seen_digest = NULL"
            " WHERE id = ?",
            [skill["id"]],
        )


def _drop_contradictions(db: Database) -> None:
    """Clear references to missing rows, and delete rows that require them."""
    while broken := db.execute("PRAGMA foreign_key_check").fetchall():
        for table, row, _, number in broken:
            column, is_required = db.execute(
                'SELECT k."from", t."notnull" FROM pragma_foreign_key_list(?) AS k'
                ' JOIN pragma_table_info(?) AS t ON t.name = k."from" WHERE k.id = ?',
                [table, table, number],
            ).fetchone()
            db.execute(
                f"DELETE FROM {table} WHERE rowid = ?"
                if is_required
                else f'UPDATE {table} SET "{column}" = NULL WHERE rowid = ?',
                [row],
            )


def _rewind_listeners(db: Database) -> None:
    """Let listeners go on behind the newest recovered event: the next ids are used again."""
    newest = newest_events(db)
    (stored,) = db.execute("SELECT delivered FROM health").fetchone()
    delivered = {
        name: min(last, newest[is_of_memories(name)]) for name, last in json.loads(stored).items()
    }
    db.execute("UPDATE health SET delivered = ?", [to_json(delivered)])


def _doubt_skills(db: Database) -> None:
    """Make the next scan judge every skill again; skills without a current version are removed."""
    db.execute(
        "UPDATE skills SET fingerprint = '', status = CASE WHEN current_version_id IS NULL"
        " AND status IN ('active', 'shadowed') THEN 'removed' ELSE status END,"
        " package_path = CASE WHEN current_version_id IS NULL THEN NULL"
        " ELSE package_path END"
    )


def _retire_packages(db: Database, at: datetime) -> None:
    """Mark the packages that belong to no present skill any more, as the start hides them."""
    db.execute(
        "UPDATE versions SET retired_at = ? WHERE package_path IS NOT NULL AND retired_at IS NULL"
        " AND id NOT IN (SELECT current_version_id FROM skills WHERE package_path IS NOT NULL)",
        [iso(at)],
    )


def _write_derived(db: Writer) -> None:
    """Write the derived rows of the accepted skills."""
    for version in list(db.query(_PRESENT)):
        document = fulltext.stored_document(db, version["skill"], version)
        fulltext.replace(db, [document])
        dialects.write(db, {version["skill"]: dialects.restored(version)})
        references.write(db, {version["skill"]: references.restored(version)})
    references.repair(db)


_COUNTED = ("skills", "versions", "ingestions", "index_builds", "outcomes")
_ORPHANS = """
    SELECT v.*, i.root, i.path AS place, r.level, max(v.id)
    FROM version_contents AS v
    JOIN ingestions AS i ON i.id = (SELECT max(id) FROM ingestions WHERE skill = v.skill)
    JOIN roots AS r ON r.path = i.root
    WHERE v.skill NOT IN (SELECT id FROM skills) AND json_valid(v.described)
        AND v.described != '{}'
    GROUP BY v.skill
"""
_PINNED_TO_LOST = """
    SELECT * FROM skills WHERE pinned_version_id NOT IN (SELECT id FROM versions)
        AND skill_md_name IS NOT NULL
"""
_PRESENT = """
    SELECT v.* FROM skills AS s JOIN version_contents AS v ON v.id = s.current_version_id
    WHERE s.status IN ('active', 'shadowed')
"""

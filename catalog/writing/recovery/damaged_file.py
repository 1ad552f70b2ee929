"""Readable rows of a damaged catalog file."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from catalog.database.sql import columns
from catalog.writing.recovery.copies import RECOVERING

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

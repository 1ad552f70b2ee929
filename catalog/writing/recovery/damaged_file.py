"""Rows of a damaged catalog file, as far as they can be read."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from catalog.database.sql import columns

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
                    names = [
                        name for name in _columns(new, table) if name in _columns(source, table)
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

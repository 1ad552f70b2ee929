"""Damage to single pages of a catalog file, and queries of what is left."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

PAGE = 16384


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Query a catalog file."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def pages_of(path: Path, table: str) -> list[int]:
    """Return the numbers of the leaf pages of a table, from 1, in the order of its rows.

    The interior pages are read as SQLite's file format describes them.
    """
    (root,) = rows(path, f"SELECT rootpage FROM sqlite_master WHERE name = '{table}'")[0]
    data = path.read_bytes()

    def leaves(number: int) -> Iterator[int]:
        page = data[(number - 1) * PAGE : number * PAGE]
        if page[0] == 13:
            yield number
            return
        for cell in range(int.from_bytes(page[3:5])):
            at = int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell])
            yield from leaves(int.from_bytes(page[at : at + 4]))
        yield from leaves(int.from_bytes(page[8:12]))

    return list(leaves(root))


def overwrite(path: Path, pages: list[int]) -> None:
    """Fill pages with garbage."""
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(os.urandom(PAGE))

"""Spells out the SQL statements that are the same for every table."""

from collections.abc import Iterable, Sequence


def columns(names: Iterable[str]) -> str:
    """Return column names as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


def insert(table: str, names: Sequence[str], rows: int = 1) -> str:
    """Return the statement that adds rows with values in the order of the columns named."""
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({columns(names)}) VALUES {', '.join([row] * rows)}"


def upsert(table: str, names: Sequence[str], rows: int = 1) -> str:
    """Return the statement that adds rows, or replaces those with the same ids."""
    kept = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name != "id")
    return f"{insert(table, names, rows)} ON CONFLICT (id) DO UPDATE SET {kept}"

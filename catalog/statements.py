"""Spells out the SQL statements that are the same for every table."""

from collections.abc import Iterable, Sequence


def columns(names: Iterable[str]) -> str:
    """Return column names as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


def insert(table: str, names: Sequence[str]) -> str:
    """Return the statement that adds a row with values in the order of the columns named."""
    return f"INSERT INTO {table} ({columns(names)}) VALUES ({', '.join('?' * len(names))})"


def upsert(table: str, names: Sequence[str]) -> str:
    """Return the statement that adds a row, or replaces the one with the same id."""
    kept = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name != "id")
    return f"{insert(table, names)} ON CONFLICT (id) DO UPDATE SET {kept}"

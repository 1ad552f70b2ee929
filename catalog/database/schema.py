"""Creation of the catalog by migrations, which sqlite-utils applies.

A released migration is never edited; a change of the schema is a new migration below it.
"""

import sqlite3
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args

from sqlite_utils import Database
from sqlite_utils.db import ForeignKey
from sqlite_utils.migrations import Migrations

from catalog.database import views
from catalog.database.schema_version import MIGRATION_SET
from catalog.database.tables import COMPUTED, INDEXES, TABLES, Key, of_dialects

migrations = Migrations(MIGRATION_SET)


def apply(connection: sqlite3.Connection) -> None:
    """Apply the migrations that a catalog lacks. Raises sqlite3.Error."""
    migrations.apply(Database(connection))


@migrations()
def m001_catalog(db: Database) -> None:
    """Create the catalog of the first release."""
    tables = {**TABLES, **of_dialects()}
    for name, columns in tables.items():
        _create_table(db, name, columns)
    for name, columns in tables.items():
        present = {key.column for key in db.table(name).foreign_keys}
        for column, key in columns.items():
            if isinstance(key, Key) and column not in present:  # of a later table
                db.table(name).add_foreign_key(column, key.table, _pk(key.table))
    for name, computed in COMPUTED.items():
        for column, definition in computed.items():  # sqlite-utils has no call for it
            db.execute(f"ALTER TABLE {name} ADD COLUMN {column} {definition} VIRTUAL")
    for name, indexes in INDEXES.items():
        for definition in indexes:
            _create_index(db, name, definition)
    db.table("health").insert({"id": 1})
    views.create(db)


def _create_table(db: Database, name: str, columns: Mapping[str, Any]) -> None:
    """Create a strict table with its keys of other tables, unless those are created later."""
    pk = next(iter(columns))
    db.table(name).create(
        {column: _type(kind) for column, kind in columns.items()},
        pk=pk,
        not_null=[c for c, kind in columns.items() if not (_is_optional(kind) or c == pk)],
        defaults={
            column: value for column, value in columns.items() if isinstance(value, str | int)
        },
        foreign_keys=[
            ForeignKey(name, column, key.table, _pk(key.table), on_delete=key.on_delete)
            for column, key in columns.items()
            if isinstance(key, Key) and (key.table == name or db.table(key.table).exists())
        ],
        strict=True,
    )


def _pk(table: str) -> str:
    return next(iter(TABLES[table]))


def _is_optional(kind: Any) -> bool:
    return kind.is_optional if isinstance(kind, Key) else NoneType in get_args(kind)


def _type(kind: Any) -> type:
    """Return the Python type of a column."""
    if isinstance(kind, Key):
        return _type(TABLES[kind.table][_pk(kind.table)])
    if isinstance(kind, str | int):
        return type(kind)
    plain: type = next(each for each in get_args(kind) or (kind,) if each is not NoneType)
    return plain


def _create_index(db: Database, table: str, definition: str) -> None:
    name, _, columns = definition.rpartition(": ")
    columns, _, condition = columns.partition(" WHERE ")
    is_unique = columns.startswith("UNIQUE ")
    columns = columns.removeprefix("UNIQUE ")
    name = f"{table}_{name or 'by_' + columns.partition(',')[0]}"
    if condition:  # sqlite-utils has no call for it
        db.execute(f"CREATE INDEX {name} ON {table} ({columns}) WHERE {condition}")
    else:
        db.table(table).create_index(columns.split(", "), name, unique=is_unique)

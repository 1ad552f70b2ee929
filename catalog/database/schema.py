"""Creation of the tables of the catalog with their indexes, by migrations of sqlite-utils.

A released migration is never edited; a change of the schema is a new migration below it.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, get_args

from sqlite_utils import Database
from sqlite_utils.db import ForeignKey
from sqlite_utils.migrations import Migrations

from catalog.database import views
from catalog.database.connection import MIGRATION_SET
from catalog.database.tables import TABLES, Key, of_dialects

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
        present = db.table(name).columns_dict
        for column, key in columns.items():
            if column not in present:  # a transformation of the table would take half of the time
                db.execute(
                    f"ALTER TABLE {name} ADD COLUMN {column} INTEGER"
                    f" REFERENCES {key.table}({_pk(key.table)})"
                )
    for name, computed in COMPUTED.items():
        for column, definition in computed.items():  # sqlite-utils has no call for it
            db.execute(f"ALTER TABLE {name} ADD COLUMN {column} {definition} VIRTUAL")
    for name, indexes in INDEXES.items():
        for definition in indexes:
            _create_index(db, name, definition)
    db.table("health").insert({"id": 1})
    views.create(db)


def _create_table(db: Database, name: str, columns: Mapping[str, Any]) -> None:
    """Create a strict table, without the keys of tables that are created later."""
    later = {
        column
        for column, kind in columns.items()
        if isinstance(kind, Key) and kind.table != name and not db.table(kind.table).exists()
    }
    columns = {column: kind for column, kind in columns.items() if column not in later}
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
            if isinstance(key, Key)
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
    if condition or "COLLATE" in columns:  # sqlite-utils has no call for it
        where = f" WHERE {condition}" if condition else ""
        db.execute(f"CREATE INDEX {name} ON {table} ({columns}){where}")
    else:
        db.table(table).create_index(columns.split(", "), name, unique=is_unique)


COMPUTED: Mapping[str, Mapping[str, str]] = {
    "versions": {"bytes": "INTEGER AS (json_extract(file_inventory, '$.totalSizeBytes'))"},
    "skills": {
        "has_scripts": "INTEGER AS (json_extract(file_inventory, '$.hasScripts'))",
        "is_held": "INTEGER AS (held_cause IS NOT NULL)",
        "level_rank": "INTEGER AS (CASE level WHEN 'enterprise' THEN 0 WHEN 'personal' THEN 1"
        " WHEN 'project' THEN 2 ELSE 3 END)",
        "bare_name": "TEXT AS (iif(namespace IS NULL, name, substr(name, length(namespace) + 2)))",
    },
}
"""Columns that SQLite computes from the others."""

INDEXES: Mapping[str, Sequence[str]] = {
    "skills": (
        "UNIQUE root, path",
        "skill_id, status",
        "name",
        "digest",
        "current_version_id",
        "pinned_version_id",
        "shadowed_by WHERE shadowed_by IS NOT NULL",
        "level",
        "by_source: source COLLATE NOCASE, status, source_kind, root, last_changed",
        "plugin WHERE plugin IS NOT NULL",
        "license WHERE license IS NOT NULL",
        "category WHERE category IS NOT NULL",
        "namespace WHERE namespace IS NOT NULL",
        "bare_name WHERE namespace IS NOT NULL",
        "newest_rejected_at WHERE newest_rejected_at IS NOT NULL",
        "removed_at WHERE removed_at IS NOT NULL",
        (
            "status, last_changed, level, source, license, category, has_scripts, "
            "spec_valid, model_invocable, current_version_id, root, estimated_tokens, name, tags"
        ),
        "pending: pending_since WHERE pending_since IS NOT NULL",
        "preferred: preferred_at WHERE preferred_at IS NOT NULL",
        "in_conflict: is_conflict, root, path WHERE is_conflict = 1",
        (
            "in_index_order: level_rank, ifnull(priority, 0) DESC, name, id"
            " WHERE status = 'active' AND model_invocable = 1"
        ),
    ),
    "findings": (
        "skill",
        "severity, skill",
        "of_no_skill: root, folder WHERE skill IS NULL",
        "by_kind: code, severity, profile, skill",
        "of_safety: skill, severity WHERE profile = 'safety'",
    ),
    "skill_references": (
        "skill, kind",
        "to_skill, kind WHERE to_skill IS NOT NULL",
        "place WHERE place IS NOT NULL",
        "wanted WHERE wanted IS NOT NULL",
    ),
    "texts": ("UNIQUE sha256",),
    "versions": (
        "UNIQUE skill_id, version",
        "skill",
        "text_id",
        "retired_at WHERE package_path IS NOT NULL",
        "superseded_at WHERE superseded_at IS NOT NULL",
        "verified_at WHERE package_path IS NOT NULL",
        "digest",
        "review, skill WHERE review IS NOT NULL",
        "packaged: package_path, bytes WHERE package_path IS NOT NULL",
    ),
    "files": ("UNIQUE version, path", "text_id WHERE text_id IS NOT NULL"),
    "reviews": ("digest", "skill"),
    "skill_text": ("version",),
    "ingestions": ("skill", "started_at", "version", "scan"),
    "requests": (
        "waiting: id WHERE finished_at IS NULL",
        "unbegun: asked_at WHERE started_at IS NULL",
    ),
    "linked_directories": ("UNIQUE path",),
    "links": (
        "UNIQUE directory, name",
        "by_skill: directory, skill_id",
        "missing: directory, name WHERE is_linked = 0",
    ),
    "index_builds": ("index_name, published_at", "sha256"),
    "index_entries": ("UNIQUE index_name, rank", "skill, index_name"),
    "outcomes": (
        "UNIQUE path, run_id, revision",
        "skill, received_at",
        "skill_id, received_at",
        "version",
        "received_at",
        "without_skill: id WHERE is_newest = 1 AND skill IS NULL",
        (
            "without_version: id WHERE is_newest = 1 AND version IS NULL AND version_declared"
            " IS NOT NULL AND skill IS NOT NULL"
        ),
    ),
    "memory_writes": ("UNIQUE outcome, position", "owner_type, owner_id", "suggestion"),
    "step_traces": ("UNIQUE outcome, position", "duration"),
    "outcome_rejections": ("UNIQUE path", "rejected_at"),
}
"""Indexes on columns, or on expressions and with a condition.

An index is named after its first column, or has its name before a colon.
"""

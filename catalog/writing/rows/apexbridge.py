"""Rows of ApexBridge declarations, in separate tables."""

import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from catalog.database import sql
from catalog.database.sql import Row, to_json
from catalog.model.apexbridge import AbpTool, ApexBridge

_LISTS = (
    "capabilities",
    "intents",
    "phrases",
    "event_types",
    "network_allowlist",
    "helpers",
    "references",
    "assets",
)
_MAPS = ("input_schema", "output_schema", "environment")
_FLAGS = ("requires_filesystem", "cacheable")
_PLAIN = (
    "type",
    "protocol",
    "timeout_ms",
    "memory_mb",
    "network",
    "filesystem",
    "security_from",
    "entry",
    "abp_kind",
    "ttl",
)

COLUMNS = (*_PLAIN, *_FLAGS, *_LISTS, *_MAPS, "tools")

_NAMES = ", ".join(f'"{column}"' for column in COLUMNS)


def holds(db: sqlite3.Connection, skill: int, declared: ApexBridge | None) -> bool:
    """Return whether the tables already contain the declaration of a skill."""
    row = db.execute(f"SELECT {_NAMES} FROM apexbridge_skills WHERE skill = ?", [skill]).fetchone()
    if declared is None or row is None:
        return declared is None and row is None
    return bool(row == _row(declared))


def write(db: sqlite3.Connection, declared: Mapping[int, ApexBridge | None]) -> None:
    """Replace the rows of these skills, inside the caller's transaction."""
    db.executemany(
        "DELETE FROM apexbridge_skills WHERE skill = ?", [(skill,) for skill in declared]
    )
    rows = [(skill, *_row(package)) for skill, package in declared.items() if package]
    sql.write(db, sql.insert, "apexbridge_skills", ("skill", *COLUMNS), rows)


def restored(described: Mapping[str, Any]) -> ApexBridge:
    """Return the declaration from the fields stored with a version."""
    fields: Row = {
        key: tuple(value) if isinstance(value, list) else value for key, value in described.items()
    }
    fields["tools"] = tuple(AbpTool(**tool) for tool in described["tools"])
    return ApexBridge(**fields)


def _row(declared: ApexBridge) -> tuple[Any, ...]:
    """Return the values of COLUMNS."""
    return (
        *(getattr(declared, column) for column in _PLAIN),
        *(None if (flag := getattr(declared, column)) is None else int(flag) for column in _FLAGS),
        *(to_json(getattr(declared, column)) for column in _LISTS),
        *(_json(getattr(declared, column)) for column in _MAPS),
        to_json([asdict(tool) for tool in declared.tools]),
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else to_json(value)

"""Rows of ingestions: one for each change of a skill folder, in the order of their commits."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import NamedTuple

from catalog.database.sql import insert, write
from catalog.model.values import IngestionOutcome, Trigger


class Ingestion(NamedTuple):
    """A change of a skill folder, with the trace of the steps that led to it."""

    skill: int
    root: str
    path: str
    scan: int | None
    trigger: Trigger
    outcome: IngestionOutcome
    detail: str | None
    version: int | None
    started_at: str  # ISO 8601, UTC
    took_ms: float = 0.0
    steps: str = "[]"  # JSON list of step traces


def add(db: Connection, ingestions: Sequence[Ingestion]) -> None:
    """Add rows, in the caller's transaction. Raises sqlite3.Error."""
    write(db, insert, "ingestions", Ingestion._fields, ingestions)

"""Changes of skills as rows, their delivery to listeners, and those since a checkpoint."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from catalog.database.expressions import DANGERS, NEWEST
from catalog.database.queries import Database, Row, Writer, to_json
from catalog.model.change import OF_MEMORIES, ChangeResult, Event, MemoryEvent
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


BATCH = 1000
"""Maximum number of events in one delivery."""


Listener: TypeAlias = Callable[[Sequence[Event]], None]


class Events:
    """The events of a catalog, and its listeners."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    def register(self, names: Sequence[str]) -> None:
        """Replace the listeners by these; a new one receives events from now on.

        Those whose names begin with OF_MEMORIES receive memories, the others changes.
        """
        with self._db.transaction():
            known = self._delivered()
            for name in set(names) - known.keys():
                table = "memory_writes" if name.startswith(OF_MEMORIES) else "ingestions"
                query = f"SELECT ifnull(max(id), 0) FROM {table}"
                (known[name],) = self._db.execute(query).fetchone()
            self._store({name: known[name] for name in names})

    def deliver(self, name: str, listener: Listener) -> None:
        """Deliver new events to a registered listener in order, in batches.

        If a listener raises, the next delivery repeats the same batch.
        """
        while events := self.pending(name, BATCH):
            listener(events)
            self.delivered(name, events)

    def pending(self, name: str, most: int) -> list[Event]:
        """Return the oldest events that a registered listener has not received, in order."""
        last = self._delivered().get(name, 0)
        return [Event(*row) for row in self._db.execute(_NEW, [last, most]).fetchall()]

    def pending_memories(self, name: str, most: int) -> list[MemoryEvent]:
        """Return the oldest memories that a listener to them has not received, in order.

        A memory that several revisions of a run suggest is one event.
        """
        last = self._delivered().get(name, 0)
        rows = self._db.execute(_NEW_MEMORIES, [last, most]).fetchall()
        return [MemoryEvent(*row) for row in rows]

    def findings(self, events: Sequence[int]) -> dict[int, list[Row]]:
        """Return the present findings of the skills of changes, by the id of their events."""
        found: dict[int, list[Row]] = {event: [] for event in events}
        for row in self._db.query(_FINDINGS, [to_json(events)]):
            found[row.pop("id")].append(row)
        return found

    def delivered(self, name: str, events: Sequence[Event] | Sequence[MemoryEvent]) -> None:
        """Store that a listener has received these events and all before them."""
        self._store(self._delivered() | {name: events[-1].id})

    def _delivered(self) -> dict[str, int]:
        """Return the last event given to each listener."""
        (stored,) = self._db.execute("SELECT delivered FROM health").fetchone()
        return dict(json.loads(stored))

    def _store(self, delivered: Mapping[str, int]) -> None:
        self._db.execute("UPDATE health SET delivered = ?", [to_json(delivered)])


class Checkpoint(NamedTuple):
    """State of the catalog at one time, to find later changes from."""

    last_ingestion: int  # row id; 0 where there is none
    held: frozenset[tuple[str, str]]  # root and path of each held removal


def checkpoint(db: Database) -> Checkpoint:
    """Return the present state, for `changes_since`."""
    held = db.execute("SELECT root, path FROM skills WHERE pending_since IS NOT NULL AND is_held")
    return Checkpoint(
        db.execute("SELECT ifnull(max(id), 0) FROM ingestions").fetchone()[0],
        frozenset(held.fetchall()),
    )


def changes_since(db: Database, checkpoint: Checkpoint) -> list[ChangeResult]:
    """Return the changes that the history records after a checkpoint, oldest first."""
    return [
        ChangeResult(*row)
        for row in db.execute(
            "SELECT i.root, i.path, ifnull(s.name, i.path), i.outcome, i.detail"
            " FROM ingestions AS i LEFT JOIN skills AS s ON s.id = i.skill"
            " WHERE i.id > ? ORDER BY i.id",
            [checkpoint.last_ingestion],
        )
    ]


_NEW = f"""
    SELECT i.id, i.started_at, i.outcome, i."trigger", i.root, i.path, s.skill_id, s.name,
           v.version, i.detail, i.outcome = 'shadowed' AND s.is_conflict,
           s.status = 'active' AND i.outcome NOT IN ('rejected', 'removed', 'held', 'shadowed')
               AND ifnull(i.version, 0) <= s.current_version_id,
           iif(v.id = {NEWEST} AND v.review IS NOT 'approved', {DANGERS}, NULL),
           m.url, v.git_commit, s.source, v.review
    FROM ingestions AS i JOIN skills AS s ON s.id = i.skill
    LEFT JOIN versions AS v ON v.id = i.version
    LEFT JOIN mirrors AS m ON m.root = i.root
    WHERE i.id > ? ORDER BY i.id LIMIT ?
"""
_FINDINGS = """
    SELECT i.id, f.severity, f.code, f.path, f.line, f.message, f.fix
    FROM ingestions AS i JOIN findings AS f ON f.skill = i.skill
    WHERE i.id IN (SELECT value FROM json_each(?)) ORDER BY f.id
"""
_NEW_MEMORIES = """
    SELECT m.id, m.suggestion, o.received_at, m.owner_type, m.owner_id, m.type, m.importance,
           m.content, m.metadata, m.position, o.path, o.run_id, o.revision, o.skill_id,
           ifnull(v.version, o.version_declared)
    FROM memory_writes AS m JOIN outcomes AS o ON o.id = m.outcome
    LEFT JOIN versions AS v ON v.id = o.version
    WHERE m.id > ?
        AND NOT EXISTS (SELECT 1 FROM memory_writes AS earlier
                        WHERE earlier.suggestion = m.suggestion AND earlier.id < m.id)
    ORDER BY m.id LIMIT ?
"""

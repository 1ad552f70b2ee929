"""Events: the changes of skills, delivered to each listener after their commit, at least once.

The rows of `ingestions` are the events. The catalog stores the last row delivered to each
listener, so a crash between a commit and a delivery loses nothing.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from catalog.database.queries import Database
from catalog.database.sql import Transaction, to_json
from catalog.model.values import IngestionOutcome, Trigger

BATCH = 1000
"""Maximum number of events in one delivery."""


class Event(NamedTuple):
    """A committed change of a skill folder."""

    id: int
    at: str  # ISO 8601, UTC
    outcome: IngestionOutcome
    trigger: Trigger
    root: str
    path: str
    skill_id: str
    name: str
    version: str | None  # the new or pinned version
    detail: str | None
    is_conflict: bool = False  # it lost its name now, and nobody has decided on that
    is_published: bool = False  # agents get this version of it, or a newer one


Listener: TypeAlias = Callable[[Sequence[Event]], None]


class Events:
    """The events of a catalog, and its listeners."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    def register(self, names: Sequence[str]) -> None:
        """Replace the listeners by these; a new one receives events from now on."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM listeners WHERE name NOT IN (SELECT value FROM json_each(?))",
                [to_json(list(names))],
            )
            self._db.conn.executemany(
                "INSERT OR IGNORE INTO listeners (name, last_event)"
                " SELECT ?, ifnull(max(id), 0) FROM ingestions",
                [(name,) for name in names],
            )

    def deliver(self, name: str, listener: Listener) -> None:
        """Deliver new events to a registered listener in order, in batches.

        If a listener raises, the next delivery repeats the same batch.
        """
        while events := self.pending(name, BATCH):
            listener(events)
            self.delivered(name, events)

    def pending(self, name: str, most: int) -> list[Event]:
        """Return the oldest events that a registered listener has not received, in order."""
        return [Event(*row) for row in self._db.execute(_NEW, [name, most]).fetchall()]

    def delivered(self, name: str, events: Sequence[Event]) -> None:
        """Store that a listener has received these events and all before them."""
        self._db.execute(
            "UPDATE listeners SET last_event = ? WHERE name = ?", [events[-1].id, name]
        )


_NEW = """
    SELECT i.id, i.started_at, i.outcome, i."trigger", i.root, i.path, s.skill_id, s.name,
           v.version, i.detail, i.outcome = 'shadowed' AND s.is_conflict,
           s.status = 'active' AND i.outcome NOT IN ('rejected', 'removed', 'held', 'shadowed')
               AND ifnull(i.version, 0) <= s.current_version_id
    FROM ingestions AS i JOIN skills AS s ON s.id = i.skill
    LEFT JOIN versions AS v ON v.id = i.version
    WHERE i.id > (SELECT last_event FROM listeners WHERE name = ?) ORDER BY i.id LIMIT ?
"""

"""Keeps account of skills that vanish: which removals are held, and how many there were lately."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlite_utils import Database

from catalog.record import Applied, Trigger

HELD = "removal held"
"""The reason for which a skill waits that is gone, until its removal is accepted."""


class Tally(NamedTuple):
    """What there is to know of a root before skills of it are removed."""

    known: int  # skills that are not removed, those that are missing now among them
    removed_lately: int
    held: int
    device: str | None  # on which all its skills were last seen


class Removals:
    """The part of the catalog that is asked before a skill is removed."""

    def __init__(self, db: Database,
                 transaction: Callable[[], AbstractContextManager[None]]) -> None:
        """Take the database and what makes a transaction of it."""
        self._db = db
        self._transaction = transaction

    def tally(self, root: str, at: datetime, span: float) -> Tally:
        """Count what a root has, and what vanished of it in the last `span` seconds.

        What vanished before its operator last accepted removals is not counted.
        """
        since = (at - timedelta(seconds=span)).isoformat(timespec="milliseconds")
        row = self._db.execute(_TALLY, {"root": root, "since": since, "held": HELD}).fetchone()
        return Tally(*row)

    def hold(self, root: str, paths: Sequence[str], *, trigger: Trigger, at: datetime,
             scan: int | None = None) -> list[Applied]:
        """Show skills as gone but not removed; return those that were not shown so before."""
        moment = at.isoformat(timespec="milliseconds")
        with self._transaction():
            found = self._db.execute(
                _NOT_YET_HELD, [root, json.dumps(list(paths)), HELD]).fetchall()
            self._db.conn.executemany(
                "UPDATE skills SET pending_since = ?, pending_reason = ? WHERE id = ?",
                [(moment, HELD, skill) for skill, _, _ in found])
            self._db.conn.executemany(
                'INSERT INTO ingestions (skill, root, path, scan, "trigger", outcome, started_at,'
                " took_ms) VALUES (?, ?, ?, ?, ?, 'held', ?, 0)",
                [(skill, root, path, scan, trigger, moment) for skill, path, _ in found])
        return [Applied(root, path, name, "held") for _, path, name in found]

    def held(self, root: str | None = None) -> int:
        """Return how many removals are held, in a root or in all of them."""
        return int(self._db.execute(
            "SELECT count(*) FROM skills WHERE pending_since IS NOT NULL AND pending_reason = ?"
            " AND (? IS NULL OR root = ?)", [HELD, root, root]).fetchone()[0])

    def note_device(self, root: str, device: str | None) -> None:
        """Note where a root lies, at a moment when nothing of it is missing."""
        self._db.execute("UPDATE roots SET device = ? WHERE path = ? AND device IS NOT ?",
                         [device, root, device])

    def note_accepted(self, root: str, at: datetime) -> None:
        """Note that whatever has vanished of a root until now was meant to."""
        self._db.execute("UPDATE roots SET removals_accepted_at = ? WHERE path = ?",
                         [at.isoformat(timespec="milliseconds"), root])


_TALLY = """
    SELECT
        (SELECT count(*) FROM skills WHERE root = :root AND status != 'removed'),
        (SELECT count(*) FROM skills WHERE root = :root AND status = 'removed'
         AND last_changed > max(:since, ifnull(r.removals_accepted_at, ''))),
        (SELECT count(*) FROM skills WHERE root = :root AND pending_since IS NOT NULL
         AND pending_reason = :held),
        r.device
    FROM roots AS r WHERE r.path = :root
"""
_NOT_YET_HELD = """
    SELECT s.id, s.path, s.name FROM skills AS s
    JOIN json_each(?2) AS wanted ON wanted.value = s.path
    WHERE s.root = ?1 AND s.status != 'removed' AND s.pending_reason IS NOT ?3
"""

"""Rows of missing skills: held removals, and the count of recent removals."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from catalog.database.queries import Writer, to_json
from catalog.model.values import HeldCause, Trigger
from catalog.text.humanize import iso
from catalog.writing.events import Ingestion


class HoldReason(NamedTuple):
    """The reason for holding a removal."""

    cause: HeldCause
    message: str


NO_ROOT = HoldReason("unconfigured_root", "its root is no longer configured")
NO_FOLDER = HoldReason("unconfigured_root", "its folder was not found when a catalog was lost")


class Tally(NamedTuple):
    """Counts of a root that decide whether its skills may be removed."""

    known: int  # skills that are not removed, including those missing now
    removed_lately: int
    held: int  # because too many disappeared at once


class Removals:
    """The rows that a scan reads before it removes a skill."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    # Counts

    def tally(self, root: str, at: datetime, span: float) -> Tally:
        """Count the skills of a root, and those removed in the last `span` seconds.

        Skills on a lost mount are not counted, nor are removals that the operator has accepted.
        """
        length = timedelta(seconds=span)
        values = {"root": root, "since": iso(at - length), "until": iso(at + length)}
        return Tally(*self._db.execute(_TALLY, values).fetchone())

    def note_going(self, root: str, paths: Sequence[str], at: datetime) -> None:
        """Note skills that will be removed next."""
        self._db.execute(_NOTE_GOING, [iso(at), root, json.dumps(list(paths))])

    def note_accepted(self, root: str) -> None:
        """Note that all removals of a root so far were intended."""
        self._db.execute(
            "UPDATE skills SET removed_at = NULL WHERE root = ? AND removed_at IS NOT NULL",
            [root],
        )

    # Held removals

    def hold(
        self,
        root: str,
        paths: Sequence[str],
        reason: HoldReason,
        *,
        trigger: Trigger,
        at: datetime,
        scan: int | None = None,
    ) -> int:
        """Hold the removal of skills; return the number of newly held ones."""
        message = reason.message
        with self._db.transaction():
            rows = self._db.execute(_TO_HOLD, [root, json.dumps(list(paths)), message]).fetchall()
            new = [skill for skill, is_held in rows if not is_held]
            self._db.conn.executemany(
                "UPDATE skills SET pending_since = ?, pending_reason = ?, held_cause = ?"
                " WHERE id = ?",
                [(iso(at), message, reason.cause, skill) for skill, _ in rows],
            )
            changed = self._db.execute(_SET_CHANGED, [iso(at), json.dumps(new)]).fetchall()
            held = [
                Ingestion(skill, root, path, scan, trigger, "held", message, None, moment)
                for skill, path, moment in sorted(changed)
            ]
            self._db.insert("ingestions", Ingestion._fields, held)
        return len(new)

    def held(self) -> int:
        """Return the number of held removals."""
        query = "SELECT count(*) FROM skills WHERE pending_since IS NOT NULL AND is_held"
        return int(self._db.execute(query).fetchone()[0])

    # Mounts

    def mounts(self, root: str) -> dict[str, str]:
        """Return the devices mounted at and below a root, by relative path; "" is the root."""
        row = self._db.execute("SELECT mounts FROM roots WHERE path = ?", [root]).fetchone()
        return dict(json.loads(row[0])) if row else {}

    def note_mounts(self, root: str, mounts: Mapping[str, str]) -> None:
        """Store the devices mounted at and below a root, except where removals are held."""
        before, present = self.mounts(root), {}
        for path in sorted(before.keys() | mounts.keys()):
            device = mounts.get(path)
            if device != before.get(path):
                (is_held,) = self._db.execute(_HELD_BELOW, [root, path]).fetchone()
                device = before.get(path) if is_held else device
            if device is not None:
                present[path] = device
        if present != before:
            self._db.execute("UPDATE roots SET mounts = ? WHERE path = ?", [to_json(present), root])


_HELD_HERE = "FROM skills WHERE root = :root AND pending_since IS NOT NULL AND is_held"
_TALLY = f"""
    SELECT
        (SELECT count(*) FROM skills WHERE root = :root AND status != 'removed')
            - (SELECT count(*) {_HELD_HERE} AND held_cause = 'lost_mount'),
        (SELECT count(*) FROM skills WHERE root = :root AND status = 'removed'
            AND removed_at BETWEEN :since AND :until),
        (SELECT count(*) {_HELD_HERE} AND held_cause != 'lost_mount')
"""
_NOTE_GOING = """
    UPDATE skills SET removed_at = ? WHERE root = ? AND path IN (SELECT value FROM json_each(?))
"""
_TO_HOLD = """
    SELECT s.id, s.is_held FROM skills AS s
    JOIN json_each(?2) AS missing ON missing.value = s.path
    WHERE s.root = ?1 AND s.status != 'removed' AND (NOT s.is_held OR s.pending_reason IS NOT ?3)
"""
_SET_CHANGED = """
    UPDATE skills SET last_changed = max(last_changed, ?)
    WHERE id IN (SELECT value FROM json_each(?)) RETURNING id, path, last_changed
"""
_HELD_BELOW = """
    SELECT EXISTS (SELECT 1 FROM skills WHERE pending_since IS NOT NULL AND is_held
        AND root = ?1 AND (?2 = '' OR path = ?2
                           OR substr(path, 1, length(?2) + 1) = ?2 || '/'))
"""

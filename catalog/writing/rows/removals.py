"""Account of vanished skills: held removals, and the number of recent ones."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlite_utils import Database

from catalog.database.sql import Transaction
from catalog.model.values import HeldCause, Trigger
from catalog.text.times import iso
from catalog.writing.rows import ingestions
from catalog.writing.rows.ingestions import Ingestion


class HoldReason(NamedTuple):
    """The reason for holding a removal."""

    cause: HeldCause
    message: str


NO_ROOT = HoldReason("unconfigured_root", "its root is no longer configured")


class Uptime(NamedTuple):
    """A moment that no change of the clock moves."""

    boot: str  # a name for one start of the machine
    seconds: float  # since then


class Tally(NamedTuple):
    """What there is to know of a root before skills of it are removed."""

    known: int  # skills that are not removed, those that are missing now among them
    removed_lately: int
    held: int  # because so many vanished at once


class Removals:
    """The part of the catalog that is asked before a skill is removed."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    # How many vanish

    def tally(self, root: str, at: datetime, uptime: Uptime, span: float) -> Tally:
        """Count what a root has, and what was removed of it in the last `span` seconds.

        What lies on a mount that is gone is left out, and so is what was removed before its
        operator last accepted removals.
        """
        return Tally(
            *self._db.execute(
                _TALLY,
                _moment(at, uptime, span) | {"root": root},
            ).fetchone()
        )

    def note_going(
        self, root: str, paths: Sequence[str], at: datetime, uptime: Uptime, span: float
    ) -> None:
        """Note skills that are about to be removed, and forget those that were so long ago."""
        with self._transaction():
            self._db.execute(_FORGET_OLD, _moment(at, uptime, span))
            self._db.execute(_NOTE_GOING, [root, json.dumps(list(paths)), *uptime])

    def note_accepted(self, root: str) -> None:
        """Note that whatever has vanished of a root until now was meant to."""
        self._db.execute(
            "DELETE FROM recent_removals WHERE skill IN (SELECT id FROM skills WHERE root = ?)",
            [root],
        )

    # What is held

    def hold(
        self,
        root: str,
        paths: Sequence[str],
        why: HoldReason,
        *,
        trigger: Trigger,
        at: datetime,
        scan: int | None = None,
    ) -> int:
        """Mark skills as gone but not removed; return how many were not marked so before."""
        moment = iso(at)
        with self._transaction():
            found = self._db.execute(
                _TO_HOLD, [root, json.dumps(list(paths)), why.message]
            ).fetchall()
            fresh = [each for each in found if not each[-1]]
            self._db.conn.executemany(
                "UPDATE skills SET pending_since = ?, pending_reason = ?, held_cause = ?"
                " WHERE id = ?",
                [(moment, why.message, why.cause, skill) for skill, *_ in found],
            )
            self._db.conn.executemany(
                "UPDATE skills SET last_changed = max(last_changed, ?) WHERE id = ?",
                [(moment, skill) for skill, *_ in fresh],
            )
            changed = dict(
                self._db.execute(
                    "SELECT id, last_changed FROM skills"
                    " WHERE id IN (SELECT value FROM json_each(?))",
                    [json.dumps([skill for skill, *_ in fresh])],
                )
            )
            ingestions.add(
                self._db.conn,
                [
                    Ingestion(
                        skill, root, path, scan, trigger, "held", why.message, None, changed[skill]
                    )
                    for skill, path, *_ in fresh
                ],
            )
        return len(fresh)

    def release_root(self, root: str) -> None:
        """Hold nothing any longer because a root was not configured: it is again."""
        self._db.execute(
            "UPDATE skills SET pending_since = NULL, pending_reason = NULL, held_cause = NULL"
            " WHERE root = ? AND pending_since IS NOT NULL AND held_cause = ?",
            [root, NO_ROOT.cause],
        )

    def held(self, root: str | None = None) -> int:
        """Return how many removals are held, in a root or in all of them."""
        return int(
            self._db.execute(
                "SELECT count(*) FROM skills WHERE pending_since IS NOT NULL AND is_held"
                " AND (? IS NULL OR root = ?)",
                [root, root],
            ).fetchone()[0]
        )

    # What is mounted where

    def mounts(self, root: str) -> dict[str, str]:
        """Return what was mounted at a root and below it, by relative path; "" is the root."""
        return dict(
            self._db.execute("SELECT path, device FROM mounts WHERE root = ?", [root]).fetchall()
        )

    def note_mounts(self, root: str, mounts: Mapping[str, str]) -> None:
        """Note what is mounted at a root and below it, but where removals are held."""
        before = self.mounts(root)
        if before == mounts:
            return
        with self._transaction():
            for path in before.keys() | mounts.keys():
                if before.get(path) != mounts.get(path) and not self._holds_below(root, path):
                    self._db.execute("DELETE FROM mounts WHERE root = ? AND path = ?", [root, path])
                    if path in mounts:
                        self.add_mount(root, path, mounts[path])

    def add_mount(self, root: str, path: str, device: str) -> None:
        """Note what is mounted at a path where nothing was."""
        self._db.execute(
            "INSERT INTO mounts (root, path, device) VALUES (?, ?, ?)", [root, path, device]
        )

    def _holds_below(self, root: str, path: str) -> bool:
        return bool(self._db.execute(_HOLDS_BELOW, {"root": root, "path": path}).fetchone()[0])


def _moment(at: datetime, uptime: Uptime, span: float) -> dict[str, str | float]:
    """Return the bounds of a span that ends now, by the clock and by the time since the start."""
    length = timedelta(seconds=span)
    return {
        "boot": uptime.boot,
        "uptime": uptime.seconds,
        "span": span,
        "since": iso(at - length),
        "until": iso(at + length),
    }


# Only across a restart of the machine the clock has to tell how long ago it was.
_LATELY = """
    SELECT r.skill FROM recent_removals AS r JOIN skills AS s ON s.id = r.skill
    WHERE s.status = 'removed' AND CASE
        WHEN r.boot = :boot THEN abs(:uptime - r.uptime) < :span
        ELSE s.last_changed BETWEEN :since AND :until END
"""
_HELD_HERE = "FROM skills WHERE root = :root AND pending_since IS NOT NULL AND is_held"
_TALLY = f"""
    SELECT
        (SELECT count(*) FROM skills WHERE root = :root AND status != 'removed')
            - (SELECT count(*) {_HELD_HERE} AND held_cause = 'lost_mount'),
        (SELECT count(*) FROM skills WHERE root = :root AND id IN ({_LATELY})),
        (SELECT count(*) {_HELD_HERE} AND held_cause != 'lost_mount')
"""
_FORGET_OLD = f"DELETE FROM recent_removals WHERE skill NOT IN ({_LATELY})"
_NOTE_GOING = """
    INSERT OR REPLACE INTO recent_removals (skill, boot, uptime)
    SELECT s.id, ?3, ?4 FROM skills AS s JOIN json_each(?2) AS wanted ON wanted.value = s.path
    WHERE s.root = ?1
"""
_TO_HOLD = """
    SELECT s.id, s.path, s.name, s.is_held FROM skills AS s
    JOIN json_each(?2) AS wanted ON wanted.value = s.path
    WHERE s.root = ?1 AND s.status != 'removed' AND (NOT s.is_held OR s.pending_reason IS NOT ?3)
"""
_HOLDS_BELOW = """
    SELECT EXISTS (SELECT 1 FROM skills WHERE pending_since IS NOT NULL AND is_held
        AND root = :root AND (:path = '' OR path = :path
                              OR substr(path, 1, length(:path) + 1) = :path || '/'))
"""

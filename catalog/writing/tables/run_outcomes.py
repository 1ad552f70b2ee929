"""Rows of run outcomes: one for each revision of a run."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from catalog.database import sql as database_sql
from catalog.database.queries import Database
from catalog.database.sql import Transaction, insert
from catalog.model.change import StepTrace
from catalog.model.outcome import BadOutcome, RunOutcome
from catalog.text.times import iso


class RunOutcomes:
    """The tables of run outcomes and of rejected files."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    def known(self) -> dict[str, str]:
        """Return the fingerprint of each outcome file that was read and is still in the inbox."""
        return dict(
            self._db.execute(
                "SELECT path, fingerprint FROM outcome_rejections WHERE quarantined_as IS NULL"
                " UNION ALL SELECT path, fingerprint FROM outcomes WHERE is_newest = 1"
            ).fetchall()
        )

    def add(self, outcome: RunOutcome, at: datetime) -> int | None:
        """Store one outcome; return its revision, or None if it is already stored.

        For a file with the same content as before, only the fingerprint is updated.
        """
        with self._transaction():
            file = outcome.file
            last = self._db.execute(
                "SELECT id, revision, sha256, received_at FROM outcomes"
                " WHERE skill_id = ? AND run_id = ? ORDER BY revision DESC LIMIT 1",
                [file.skill_id, file.run_id],
            ).fetchone()
            if last and last[2] == file.sha256:
                self._db.execute(
                    "UPDATE outcomes SET fingerprint = ? WHERE id = ?", [file.fingerprint, last[0]]
                )
                return None
            if last:
                self._db.execute("UPDATE outcomes SET is_newest = 0 WHERE id = ?", [last[0]])
            revision = last[1] + 1 if last else 1
            row = _row(self._db, outcome) | {
                "revision": revision,
                "received_at": max(iso(at), last[3] if last else ""),
            }
            written = self._db.execute(insert("outcomes", list(row)), list(row.values())).lastrowid
            assert written
            self._add_parts(written, outcome)
            return revision

    def _add_parts(self, row: int, outcome: RunOutcome) -> None:
        """Add the memory writes and step traces of the outcome in a row."""
        self._db.conn.executemany(
            insert("memory_writes", _MEMORY_COLUMNS),
            [
                (
                    row,
                    position,
                    write.owner_type,
                    write.owner_id,
                    write.type,
                    write.importance,
                    write.importance_declared,
                    write.content,
                    database_sql.to_json(write.metadata),
                )
                for position, write in enumerate(outcome.memory_writes, start=1)
            ],
        )
        self._db.conn.executemany(
            insert("step_traces", _STEP_COLUMNS),
            [(row, position, *_step(step)) for position, step in enumerate(outcome.steps, start=1)],
        )

    def reject(self, bad: BadOutcome, quarantined_as: str | None, at: datetime) -> None:
        """Store why a file is rejected, and its path in quarantine; None if it stays in place.

        Replaces any earlier row of the same file.
        """
        with self._transaction():
            self._db.execute(
                "DELETE FROM outcome_rejections WHERE path = ? AND fingerprint = ?",
                [bad.file.path, bad.file.fingerprint],
            )
            row = {
                "path": bad.file.path,
                "fingerprint": bad.file.fingerprint,
                "quarantined_as": quarantined_as,
                "rejected_at": iso(at),
                "reason": " ".join(finding.message for finding in bad.findings),
                "findings": database_sql.to_json([finding.as_json() for finding in bad.findings]),
            }
            self._db.execute(insert("outcome_rejections", list(row)), list(row.values()))

    def forget(self, paths: Sequence[str]) -> None:
        """Delete the rows of unquarantined files that no longer exist."""
        self._db.execute(
            "DELETE FROM outcome_rejections WHERE quarantined_as IS NULL"
            " AND path IN (SELECT value FROM json_each(?))",
            [database_sql.to_json(paths)],
        )

    def quarantined_since(self, at: datetime, most: int) -> list[tuple[str, str]]:
        """Return (path, time) of the files quarantined since a moment, newest first."""
        return self._db.execute(
            "SELECT quarantined_as, rejected_at FROM outcome_rejections"
            " WHERE rejected_at >= ? AND quarantined_as IS NOT NULL"
            " ORDER BY rejected_at DESC LIMIT ?",
            [iso(at), most],
        ).fetchall()


def _row(db: Database, outcome: RunOutcome) -> database_sql.Row:
    file = outcome.file
    skill, version = _ran(db, file.skill_id, outcome.version)
    return {
        "skill_id": file.skill_id,
        "run_id": file.run_id,
        "is_newest": 1,
        "skill": skill,
        "version": version,
        "version_declared": outcome.version,
        "form": outcome.form,
        "tool": outcome.tool,
        "call_id": outcome.call_id,
        "status": outcome.status,
        "failed": int(outcome.failed),
        "message": outcome.message,
        "format": outcome.format,
        "output": database_sql.to_json(outcome.output),
        "token_usage": database_sql.to_json(outcome.token_usage),
        "warnings": database_sql.to_json(outcome.warnings),
        "findings": database_sql.to_json([finding.as_json() for finding in outcome.findings]),
        "path": file.path,
        "fingerprint": file.fingerprint,
        "sha256": file.sha256,
    }


def _ran(db: Database, skill_id: str, version: str | None) -> tuple[int | None, int | None]:
    """Return the skill that ran, preferably an active one, and its version.

    The version is the one that the file names, None if that is missing, or else the current one.
    """
    skill = db.execute(
        "SELECT id, current_version_id FROM skills WHERE skill_id = ?"
        " ORDER BY status != 'active', last_changed DESC LIMIT 1",
        [skill_id],
    ).fetchone()
    if version is None:
        return skill or (None, None)
    named = db.execute(
        "SELECT skill, id FROM versions WHERE skill_id = ? AND version = ?", [skill_id, version]
    ).fetchone()
    return named or (skill[0] if skill else None, None)


def _step(step: StepTrace) -> Iterable[object]:
    return (
        step.step_id,
        step.step_name,
        database_sql.to_json(step.input),
        database_sql.to_json(step.output),
        step.duration,
        step.error,
        step.timestamp,
    )


_MEMORY_COLUMNS = (
    "outcome",
    "position",
    "owner_type",
    "owner_id",
    "type",
    "importance",
    "importance_declared",
    "content",
    "metadata",
)
_STEP_COLUMNS = (
    "outcome",
    "position",
    "step_id",
    "step_name",
    "input",
    "output",
    "duration",
    "error",
    "timestamp",
)

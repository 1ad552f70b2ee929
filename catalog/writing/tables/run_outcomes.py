"""Rows of run outcomes: one for each revision of a run."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import NamedTuple

from catalog.database.queries import Database, Row, Writer, to_json
from catalog.model.naming import is_skill_id, skill_id
from catalog.model.outcome import BadOutcome, JudgedOutcome, MemoryWrite, RunOutcome
from catalog.model.values import Json
from catalog.text.humanize import iso


class ReadFile(NamedTuple):
    """Outcome file, as it was read."""

    path: str  # relative to the folder of outcomes
    fingerprint: str  # changes when the file's stat signature does


class RunOutcomes:
    """The tables of run outcomes, of their files and of rejected files."""

    def __init__(self, db: Writer) -> None:
        self._db = db

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of the files that were read, by their paths."""
        return dict(self._db.execute("SELECT path, fingerprint FROM outcome_files").fetchall())

    def add(self, file: ReadFile, outcome: JudgedOutcome, at: datetime) -> "Origin | None":
        """Store that a file was read, and its outcome, or why it is rejected.

        Returns the origin of a new outcome.
        """
        with self._db.transaction():
            self._db.table("outcome_files").insert(file._asdict(), replace=True)
            self._db.execute("DELETE FROM outcome_rejections WHERE path = ?", [file.path])
            if isinstance(outcome, RunOutcome):
                return self._add_one(outcome, at)
            row = {
                "path": file.path,
                "rejected_at": iso(at),
                "reason": reason(outcome),
                "findings": to_json([finding.as_json() for finding in outcome.findings]),
            }
            self._db.table("outcome_rejections").insert(row)
            return None

    def _add_one(self, outcome: RunOutcome, at: datetime) -> "Origin | None":
        """Store one outcome and return its origin; None if it is already stored.

        A file counts as changed if its content was another before.
        """
        file = outcome.file
        last = self._db.execute(
            "SELECT id, revision, sha256, received_at FROM outcomes"
            " WHERE path = ? AND run_id = ? ORDER BY revision DESC LIMIT 1",
            [file.path, outcome.run_id],
        ).fetchone()
        if last and last[2] == file.sha256:
            return None
        if last:
            self._db.execute("UPDATE outcomes SET is_newest = 0 WHERE id = ?", [last[0]])
        origin = _Origins(self._db).find(file.path, outcome.skill, outcome.version)
        row = _outcome_row(outcome, origin) | {
            "revision": last[1] + 1 if last else 1,
            "received_at": max(iso(at), last[3] if last else ""),
        }
        written = self._db.table("outcomes").insert(row)
        self._add_parts(int(written.last_pk or 0), outcome)
        return origin

    def _add_parts(self, row: int, outcome: RunOutcome) -> None:
        """Add the memory writes and step traces of the outcome in a row."""
        self._db.table("memory_writes").insert_all(
            asdict(write)
            | {
                "outcome": row,
                "position": position,
                "metadata": to_json(write.metadata),
                "suggestion": _suggestion(outcome, write),
            }
            for position, write in enumerate(outcome.memory_writes, start=1)
        )
        self._db.table("step_traces").insert_all(
            asdict(step)
            | {
                "outcome": row,
                "position": position,
                "input": to_json(step.input),
                "output": to_json(step.output),
                "error_declared": _optional_json(step.error_declared),
                "timestamp_declared": _optional_json(step.timestamp_declared),
            }
            for position, step in enumerate(outcome.steps, start=1)
        )

    def link(self) -> int:
        """Link outcomes to skills that have arrived since; return their number."""
        origins, linked = _Origins(self._db), 0
        with self._db.transaction():
            for row, path, skill, version in self._db.execute(_UNLINKED).fetchall():
                origin = origins.find(path, skill, version)
                if origin.skill is not None:
                    linked += 1
                    self._db.execute(
                        "UPDATE outcomes SET skill_id = ?, version_declared = ?, skill = ?,"
                        " version = ? WHERE id = ?",
                        [*origin, row],
                    )
        return linked

    def forget(self, paths: Sequence[str]) -> None:
        """Delete the rows of files that no longer exist, except those of their content."""
        with self._db.transaction():
            for table in ("outcome_files", "outcome_rejections"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE path IN (SELECT value FROM json_each(?))",
                    [to_json(paths)],
                )


_AS_DECLARED = ("form", "tool", "call_id", "status", "message", "format", "tokens")
"""Columns of `outcomes` with the values of the outcome's fields of these names."""


def _outcome_row(outcome: RunOutcome, origin: "Origin") -> Row:
    """Return a row of `outcomes`, without its revision."""
    file = outcome.file
    return {name: getattr(outcome, name) for name in _AS_DECLARED} | {
        "path": file.path,
        "sha256": file.sha256,
        "run_id": outcome.run_id,
        "is_newest": 1,
        **origin._asdict(),
        "skill_declared": outcome.skill,
        "failed": int(outcome.failed),
        "output": to_json(outcome.output),
        "token_usage": _optional_json(outcome.token_usage),
        "warnings": to_json(outcome.warnings),
        "findings": to_json([finding.as_json() for finding in outcome.findings]),
    }


def _suggestion(outcome: RunOutcome, write: MemoryWrite) -> str:
    """Return the identifier of a memory, which other revisions of the run have, too.

    An outcome that has the same memory twice suggests it once.
    """
    content = [
        outcome.file.path,
        outcome.run_id,
        write.owner_type,
        write.owner_id,
        write.type,
        write.importance,
        write.content,
        write.metadata,
    ]
    return hashlib.sha256(to_json(content).encode()).hexdigest()[:32]


def _optional_json(value: Json) -> str | None:
    return None if value is None else to_json(value)


def reason(bad: BadOutcome) -> str:
    """Return the messages of a rejected outcome."""
    return " ".join(finding.message for finding in bad.findings)


_UNLINKED = """
    SELECT id, path, skill_declared, version_declared FROM outcomes
    WHERE is_newest = 1 AND skill IS NULL
"""


# Skill and version of a run


class Origin(NamedTuple):
    """Skill that ran and its version, as they are named, and their rows if the catalog has them."""

    skill_id: str | None = None  # None where nothing names a skill
    version_declared: str | None = None
    skill: int | None = None
    version: int | None = None

    @property
    def is_linked(self) -> bool:
        """Whether the catalog has its skill, and its version if it names one."""
        return bool(self.skill and (self.version or self.version_declared is None))


class _Origins:
    """Skills and versions that outcomes name. It remembers skills, so it is for one batch."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._skills: dict[str, tuple[int, int | None] | None] = {}

    def find(self, path: str, skill: str | None, version: str | None) -> Origin:
        """Return the origin of an outcome, by its path, its skill and its version.

        The skill of the outcome may be a name or a skill_id, also `skill@version`; without it, the
        first folder that is a skill of the catalog counts. Without a version, the current one does.
        """
        if skill:
            name, _, after = skill.partition("@")
            return self._ran(_id_of(name), version or after or None)
        names = list(map(_id_of, path.split("/")[:-1]))
        if not names:
            return Origin(None, version)
        return self._ran(next(filter(self._skill, names), names[0]), version)

    def _skill(self, named: str) -> tuple[int, int | None] | None:
        """Return the rows of a skill and its current version."""
        if named not in self._skills:
            self._skills[named] = self._db.execute(_CURRENT, [named]).fetchone()
        return self._skills[named]

    def _ran(self, named: str, version: str | None) -> Origin:
        skill, newest = self._skill(named) or (None, None)
        if version is None:
            return Origin(named, None, skill, newest)
        row = self._db.execute(_VERSION, [named, version]).fetchone()
        return Origin(named, version, *(row or (skill, None)))


def _id_of(name: str) -> str:
    """Return the skill_id of a skill by its name or its skill_id."""
    if is_skill_id(name):
        return name
    namespace, _, own = name.rpartition(":")
    return skill_id(own, namespace or None, name)


_CURRENT = """
    SELECT id, current_version_id FROM skills WHERE skill_id = ?
    ORDER BY status != 'active', last_changed DESC LIMIT 1
"""
_VERSION = "SELECT skill, id FROM versions WHERE skill_id = ? AND version = ?"

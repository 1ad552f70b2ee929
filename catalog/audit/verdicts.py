"""Differences between the catalog and fresh verdicts on the folders; reads only.

Each value is computed again from its source, so that no stored value is taken for granted.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlite_utils import Database

from catalog.database import sql
from catalog.model.change import ChangeResult
from catalog.model.finding import Finding
from catalog.model.publication_findings import CODES
from catalog.model.skill import Rejection, SkillRecord, Verdict
from catalog.writing.rows import mapping


class Present(NamedTuple):
    """What the catalog says of a skill folder that it does not call removed."""

    status: str
    fingerprint: str
    is_held: bool
    is_pending: bool
    is_delayed: bool  # it changes too often, and its newest content waits


def present(db: Database, root: str) -> dict[str, Present]:
    """Return the skill folders that the catalog believes to be in a root."""
    found = db.execute(
        "SELECT path, status, fingerprint, is_held, pending_since IS NOT NULL,"
        " coalesced > 0 FROM skills WHERE root = ? AND status != 'removed'",
        [root],
    )
    return {
        path: Present(status, fingerprint, bool(held), bool(pending), bool(delayed))
        for path, status, fingerprint, held, pending, delayed in found
    }


def unconfigured(db: Database) -> list[tuple[str, str, bool]]:
    """Return root, path and whether it is held of the skills of roots not configured any more."""
    return db.execute(
        "SELECT s.root, s.path, s.is_held FROM roots AS r"
        " CROSS JOIN skills AS s ON s.root = r.path"
        " WHERE s.status != 'removed' AND r.configured = 0"
    ).fetchall()


class Moment(NamedTuple):
    """What the catalog said at a time, from which its changes since are told."""

    last: int  # the newest row of the history
    held: frozenset[tuple[str, str]]  # root and path of each removal that waits to be accepted


def moment(db: Database) -> Moment:
    """Return what is needed to tell later what has changed since."""
    held = db.execute("SELECT root, path FROM skills WHERE pending_since IS NOT NULL AND is_held")
    return Moment(
        db.execute("SELECT ifnull(max(id), 0) FROM ingestions").fetchone()[0],
        frozenset(held.fetchall()),
    )


def changes_since(db: Database, moment: Moment) -> list[ChangeResult]:
    """Return what the history says has become of skills since a moment, in its order."""
    return [
        ChangeResult(*found)
        for found in db.execute(
            "SELECT i.root, i.path, ifnull(s.name, i.path), i.outcome, i.detail"
            " FROM ingestions AS i LEFT JOIN skills AS s ON s.id = i.skill"
            " WHERE i.id > ? ORDER BY i.id",
            [moment.last],
        )
    ]


# Against a verdict


def contradictions(db: Database, verdict: Verdict) -> list[str]:
    """Return in words where the catalog does not say what a fresh verdict on a folder says."""
    place = (verdict.place.root, verdict.place.path)
    row = next(iter(db.query("SELECT * FROM skills WHERE root = ? AND path = ?", place)), None)
    if row is None or row["status"] == "removed":
        return ["the catalog does not have it"]
    if isinstance(verdict, SkillRecord):
        return [*_of_record(db, row, verdict), *_of_findings(db, row, verdict.findings)]
    return [*_of_rejection(row, verdict), *_of_findings(db, row, verdict.findings)]


def _of_record(db: Database, row: sql.Row, record: SkillRecord) -> Iterator[str]:
    if row["pinned_version_id"]:  # what the folder holds is recorded, and another is published
        if row["seen_digest"] != record.digest:
            yield "its present content has not been judged"
        return
    expected = mapping.accepted(record)
    wrong = [column for column, value in expected.items() if row[column] != value]
    if wrong:
        yield f"the catalog has another {', '.join(wrong)}"
    if row["status"] not in ("active", "shadowed"):
        yield f"its content is accepted, and its status is {row['status']}"
    if row["newest_rejected_at"]:
        yield "its content is accepted, and the catalog says that it is not"
    if row["digest"] == record.digest and not _holds(db, row["current_version_id"], record):
        yield "its version does not hold the content that was accepted"


def _holds(db: Database, version: int | None, record: SkillRecord) -> bool:
    said = db.execute(
        "SELECT digest, skill_md_hash, skill_md_content FROM versions WHERE id = ?", [version]
    ).fetchone()
    files = db.execute(
        "SELECT version, path, kind, size, sha256, mode, is_text, text FROM files"
        " WHERE version = ? ORDER BY path",
        [version],
    ).fetchall()
    return said == (record.digest, record.skill_md_hash, record.skill_md_content) and (
        files
        == sorted(
            (mapping.file(version or 0, entry) for entry in record.files), key=lambda file: file[1]
        )
    )


def _of_rejection(row: sql.Row, rejection: Rejection) -> Iterator[str]:
    if row["seen_digest"] != rejection.digest:
        yield "its present content has not been judged"
    if row["status"] in ("active", "shadowed"):
        if not row["newest_rejected_at"]:
            yield "its content is rejected, and the catalog does not say so"
    elif row["status"] != "rejected":
        yield f"its content is rejected, and its status is {row['status']}"


def _of_findings(db: Database, row: sql.Row, findings: Iterable[Finding]) -> Iterator[str]:
    expected = [mapping.finding(row["id"], row["root"], row["path"], found) for found in findings]
    if _findings(db, "skill = ?", [row["id"]]) != sorted(expected, key=repr):
        yield "the catalog has other findings"


def stray_findings(db: Database, root: str, strays: Iterable[tuple[str, Finding]]) -> bool:
    """Tell whether the catalog has just these findings that speak of no skill of a root."""
    expected = [mapping.finding(None, root, folder, found) for folder, found in strays]
    return _findings(db, "skill IS NULL AND root = ?", [root]) == sorted(expected, key=repr)


def _findings(db: Database, which: str, values: list[object]) -> list[tuple[object, ...]]:
    columns = ", ".join(f'"{name}"' for name in mapping.FINDING_COLUMNS)
    found = db.execute(
        f"SELECT {columns} FROM findings WHERE {which} AND code NOT IN (?, ?, ?)",
        [*values, *CODES],
    )
    return sorted(found.fetchall(), key=repr)

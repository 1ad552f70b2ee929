"""Decisions of reviewers on versions, in the caller's transaction."""

from typing import Literal, NamedTuple

from catalog.database.queries import Database
from catalog.database.sql import Row, insert
from catalog.reading import review
from catalog.writing import pins
from catalog.writing.rows import fulltext, ingestions, reviews
from catalog.writing.rows.ingestions import Ingestion
from catalog.writing.rows.unit_of_work import NO_NAME, PRESENT


class Decision(NamedTuple):
    """Decision of a person on a version."""

    decision: Literal["approved", "rejected"]
    decided_by: str
    decided_at: str  # ISO 8601, UTC
    why: str | None


def decide(db: Database, asked: review.Asked, decision: Decision) -> tuple[Row, set[str]]:
    """Store a decision on the content of a version, for every folder that has it.

    Return the row of the version, and each skill_id whose publication may change. Raises
    NotInCatalog.
    """
    version = review.find(db, asked)
    digest = version["digest"]
    unpublished = {skill for (skill,) in db.execute(_UNPUBLISHED, [digest])}
    row: Row = decision._asdict() | {
        "digest": digest,
        "skill": version["skill"],
        "version": version["version"],
    }
    db.execute(insert("reviews", list(row)), list(row.values()))
    db.execute(
        "UPDATE versions SET review = ? WHERE digest = ? AND review IS NOT NULL",
        [decision.decision, digest],
    )
    contested: set[str] = set()
    for skill in list(db.query(_CONCERNED, [digest])):
        contested |= _follow(db, skill, row, is_unpublished=skill["id"] in unpublished)
    return version, contested


def _follow(db: Database, skill: Row, decision: Row, *, is_unpublished: bool) -> set[str]:
    """Give a skill the right version after a decision; return each skill_id concerned.

    is_unpublished says that until now only a review kept the skill from being published.
    """
    is_present = skill["status"] in PRESENT
    if not (is_present or is_unpublished):
        return set()  # removed, or rejected by the rules
    latest = reviews.newest_publishable(db, skill["id"])
    reason, at = reviews.clause(decision), decision["decided_at"]
    keeps_pin = skill["pinned_version_id"] and skill["pin_review"] not in reviews.UNPUBLISHABLE
    if keeps_pin or (is_present and latest and latest["id"] == skill["current_version_id"]):
        if decision["decision"] == "rejected":
            _note(db, skill, reason, at)
        reviews.update_findings(db, skill["id"])
        return {skill["skill_id"]}
    if latest and (is_present or latest["id"] in (skill["newest"], skill["decided"])):
        if is_unpublished:
            skill |= {"status": "active"}
            _set(db, skill["id"], {"status": "active", "status_reason": None})
        change = pins.Return("added" if is_unpublished else "updated", reason, at)
        return pins.return_to(db, skill, latest, change, pinned=None)
    return _withdraw(db, skill, pins.Return("rejected", reason, at))


def _withdraw(db: Database, skill: Row, change: pins.Return) -> set[str]:
    """Leave a skill without a version that agents get; return each skill_id concerned."""
    (newest,) = db.query("SELECT * FROM version_contents WHERE id = ?", [skill["newest"]])
    contested = pins.return_to(db, skill, newest, change, pinned=None)
    status = reviews.unpublished(db, newest["review"], newest["digest"])
    _set(db, skill["id"], status | NO_NAME | {"shadowed_by": None})
    fulltext.remove(db.conn, [skill["id"]])
    return contested


def _set(db: Database, skill: int, fields: Row) -> None:
    settings = ", ".join(f"{column} = :{column}" for column in fields)
    db.execute(f"UPDATE skills SET {settings} WHERE id = :id", fields | {"id": skill})


def _note(db: Database, skill: Row, reason: str, at: str) -> None:
    """Add a rejection to the history of a skill that keeps its version."""
    place = (skill["id"], skill["root"], skill["path"])
    at = max(at, skill["last_changed"])
    change = Ingestion(*place, None, "command", "rejected", reason, skill["decided"], at)
    ingestions.add(db.conn, [change])


_UNPUBLISHED = """
    SELECT s.id FROM versions AS d JOIN skills AS s ON s.id = d.skill
    JOIN versions AS v ON v.id = s.current_version_id
    WHERE d.digest = ? AND d.review IS NOT NULL AND v.review IN ('waits', 'rejected')
        AND (s.status = 'pending' OR s.status = 'rejected' AND s.seen_digest = s.digest)
"""
_CONCERNED = """
    SELECT s.*, max(d.id) AS decided, p.review AS pin_review,
           (SELECT max(id) FROM versions WHERE skill = s.id) AS newest
    FROM versions AS d JOIN skills AS s ON s.id = d.skill
    LEFT JOIN versions AS p ON p.id = s.pinned_version_id
    WHERE d.digest = ? AND d.review IS NOT NULL GROUP BY s.id
"""

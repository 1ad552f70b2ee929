"""Decisions of people on versions: pins, reviews, preferences."""

from typing import Literal, NamedTuple

from catalog.database.expressions import MAY_BE_REVIEWED, is_withheld
from catalog.database.queries import Row, Writer
from catalog.model.errors import NotInCatalog
from catalog.model.values import LEVELS, IngestionOutcome
from catalog.reading.lookup import find_skill
from catalog.reading.skills import versions as reading_versions
from catalog.reading.skills.versions import find_version
from catalog.text.suggestions import shown
from catalog.writing.events import Ingestion
from catalog.writing.rows import derived, reviews, shadowing
from catalog.writing.rows.unit_of_work import NO_NAME, PRESENT


def pin(db: Writer, query: str, version: str, at: str) -> set[str]:
    """Return a skill to a version and pin it; return each skill_id concerned.

    Raises NotInCatalog, which names the existing skills or versions.
    """
    skill = find_skill(db, query)
    if skill["status"] != "active" and not is_withheld(skill):
        raise NotInCatalog(
            f"The skill {skill['name']} is {skill['status']}, so none of its versions can be "
            "published; `skilldrop status` reports the reason."
        )
    if not db.execute("SELECT has_package(?)", [skill["path"]]).fetchone()[0]:
        raise NotInCatalog(
            f"The skill {skill['name']} is published in place, so only the present content of its "
            "folder is available; set publish to copy to keep versions."
        )
    pinned = find_version(db, skill, version)
    change = Return("pinned", f"to version {pinned['version']}", at)
    return return_to(db, skill, pinned, change, pinned=pinned["id"])


def unpin(db: Writer, query: str, at: str) -> set[str]:
    """Make a skill follow its folder again; return each skill_id concerned.

    Raises NotInCatalog if the skill is not pinned.
    """
    skill = find_skill(db, query)
    if skill["pinned_version_id"] is None:
        raise NotInCatalog(f"The skill {skill['name']} is not pinned to a version.")
    return unpin_row(db, skill, at)


def unpin_row(db: Writer, skill: Row, at: str) -> set[str]:
    """Make the skill of a row follow its folder again; return each skill_id concerned."""
    newest = reviews.newest_publishable(db, skill["id"])
    assert newest  # a skill is pinned to such a version
    change = Return("unpinned", f"to version {newest['version']}", at)
    return return_to(db, skill, newest, change, pinned=None)


class Return(NamedTuple):
    """Why and when a decision changes a skill, mostly to a version that is stored already."""

    outcome: IngestionOutcome
    detail: str
    at: str  # ISO 8601, UTC


def return_to(
    db: Writer, skill: Row, version: Row, change: Return, *, pinned: int | None
) -> set[str]:
    """Make a version the current one of a skill; return each skill_id concerned."""
    fields = reading_versions.restored(version) | {"pinned_version_id": pinned}
    if version["skill_id"] != skill["skill_id"]:
        fields |= NO_NAME
    db.table("skills").update(skill["id"], fields)
    derived.write(db, [skill["id"]])
    _note(db, skill, change, version["id"])
    return {skill["skill_id"], version["skill_id"]}


def prefer(db: Writer, skill: Row, folder: str, at: str) -> set[str]:
    """Give a skill its skill_id, before its rivals of the same level; return the skill_id.

    folder is its path as a person wrote it. The preference lasts until another rival is preferred,
    or the skill is removed or renamed. Raises NotInCatalog if it has no accepted content, or a
    rival has a higher level.
    """
    if skill["status"] not in ("active", "shadowed"):
        raise NotInCatalog(
            f"The skill in {shown(folder)} is {skill['status']}, so it cannot have the name "
            f"{shown(skill['name'])}; `skilldrop status` reports the reason."
        )
    rivals = shadowing.rivals_of(db, [skill["skill_id"]])[skill["skill_id"]]
    first = shadowing.winner_of(rivals)
    if LEVELS.index(first["level"]) < LEVELS.index(skill["level"]):
        raise NotInCatalog(
            f"The {first['level']} skill in {first['root']}/{first['path']} has the name "
            f"{shown(skill['name'])} and a higher level than the {skill['level']} skill in "
            f"{shown(folder)}. Remove or rename one of them, or change the level of a root."
        )
    # The clock may have gone back since a rival came.
    at = max(at, *(row["name_since"] for row in rivals))
    db.execute(
        "UPDATE skills SET preferred_at = CASE id WHEN ? THEN ? END WHERE skill_id = ?"
        " AND status IN ('active', 'shadowed')",
        [skill["id"], at, skill["skill_id"]],
    )
    return {skill["skill_id"]}


class Decision(NamedTuple):
    """Decision of a person on a version."""

    decision: Literal["approved", "rejected"]
    decided_by: str
    decided_at: str  # ISO 8601, UTC
    why: str | None


def decide(db: Writer, version: Row, decision: Decision) -> set[str]:
    """Store a decision on the content of a version, for every folder that has it.

    Return each skill_id whose publication may change.
    """
    digest = version["digest"]
    unpublished = {skill for (skill,) in db.execute(_UNPUBLISHED, [digest])}
    row: Row = decision._asdict() | {
        "digest": digest,
        "skill": version["skill"],
        "version": version["version"],
    }
    db.table("reviews").insert(row)
    db.execute(
        f"UPDATE versions AS v SET review = ? WHERE digest = ? AND {MAY_BE_REVIEWED.format('v')}",
        [decision.decision, digest],
    )
    contested: set[str] = set()
    for skill in db.rows(_CONCERNED, [digest]):
        contested |= _follow(db, skill, row, is_unpublished=skill["id"] in unpublished)
    return contested


def _follow(db: Writer, skill: Row, decision: Row, *, is_unpublished: bool) -> set[str]:
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
            _note(db, skill, Return("rejected", reason, at), skill["decided"])
        return {skill["skill_id"]}
    if latest and (is_present or latest["id"] in (skill["newest"], skill["decided"])):
        if is_unpublished:
            skill |= {"status": "active"}
            db.table("skills").update(skill["id"], {"status": "active", "status_reason": None})
        change = Return("added" if is_unpublished else "updated", reason, at)
        return return_to(db, skill, latest, change, pinned=None)
    return _withdraw(db, skill, Return("rejected", reason, at))


def _withdraw(db: Writer, skill: Row, change: Return) -> set[str]:
    """Leave a skill without a version that agents get; return each skill_id concerned."""
    (newest,) = db.query("SELECT * FROM version_contents WHERE id = ?", [skill["newest"]])
    contested = return_to(db, skill, newest, change, pinned=None)
    status = reviews.unpublished(db, newest["review"], newest["digest"])
    db.table("skills").update(skill["id"], status | NO_NAME | {"shadowed_by": None})
    derived.write(db, [skill["id"]])
    return contested


def _note(db: Writer, skill: Row, change: Return, version: int) -> None:
    """Add a decision on a version to the history of a skill."""
    place = (skill["id"], skill["root"], skill["path"])
    outcome, detail, at = change
    at = max(at, skill["last_changed"])
    note = Ingestion(*place, None, "command", outcome, detail, version, at)
    db.insert("ingestions", note._fields, [note])


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

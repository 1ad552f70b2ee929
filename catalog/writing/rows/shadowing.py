"""Shadowing among skills of one skill_id: one is active, the others are shadowed.

A winner whose files are lost is withheld, and keeps the name; see `withheld`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.model.precedence import precedence
from catalog.model.values import IngestionOutcome, Trigger
from catalog.text.sketch import SIMILAR, similarity
from catalog.writing.rows import ingestions, lookalikes
from catalog.writing.rows.ingestions import Ingestion

_CONTENDERS = f"""
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.status_reason,
           s.is_alias, s.pinned_version_id, s.current_version_id, s.last_changed, s.digest,
           r.position,
           {withheld.CANNOT_BE_GIVEN} AS is_withheld
    FROM json_each(?) AS contested
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = contested.value AND s.status IN ('active', 'shadowed')
    JOIN roots AS r ON r.path = s.root
"""
_SKETCHES = """
    SELECT version, sketch FROM body_sketches WHERE version IN (SELECT value FROM json_each(?))
"""
_DISPUTED = """
    SELECT skill_id FROM skills WHERE status IN ('active', 'shadowed')
    GROUP BY skill_id HAVING count(*) > 1
"""


def decide(db: Database, skill_ids: Iterable[str], at: str, trigger: Trigger) -> None:
    """Decide which skill of each skill_id is active, as of a time in ISO 8601."""
    skill_ids = set(skill_ids)
    contenders: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_CONTENDERS, [sql.to_json(sorted(skill_ids))]):
        contenders[row["skill_id"]].append(row)
    decided = []
    changes = []
    for rivals in contenders.values():
        winner = min(
            rivals,
            key=lambda r: precedence(
                r["level"], r["position"], r["path"], is_alias=bool(r["is_alias"])
            ),
        )
        resemblances = resemblance(db, winner, rivals)
        for row in rivals:
            decision = _decision(db, row, winner, resemblances)
            if decision[:2] != (row["status"], row["shadowed_by"]):
                decided.append((*decision, at, row["id"]))
                changes.append(_ingestion(row, decision, at, trigger))
            elif decision[2] != row["status_reason"]:  # an edit of the winner is no event of others
                decided.append((*decision, row["last_changed"], row["id"]))
    db.conn.executemany(
        "UPDATE skills SET status = ?, shadowed_by = ?, status_reason = ?,"
        " last_changed = max(last_changed, ?) WHERE id = ?",
        decided,
    )
    ingestions.add(db.conn, changes)
    lookalikes.mark(db, skill_ids)


def decide_all(db: Database, at: str, trigger: Trigger) -> None:
    """Decide every disputed skill_id again, for example after a change in the order of roots."""
    decide(db, [row["skill_id"] for row in db.query(_DISPUTED)], at, trigger)


def _ingestion(
    row: sql.Row, decision: tuple[str, int | None, str | None], at: str, trigger: Trigger
) -> Ingestion:
    status, shadowed_by, reason = decision
    outcome: IngestionOutcome = (
        "active" if status == "active" else "withheld" if shadowed_by is None else "shadowed"
    )
    return Ingestion(
        row["id"],
        row["root"],
        row["path"],
        None,
        trigger,
        outcome,
        reason,
        row["current_version_id"],
        max(at, row["last_changed"]),
    )


def resemblance(db: Database, winner: sql.Row, rivals: Sequence[sql.Row]) -> dict[int, str]:
    """Return how the content of each skill but the winner resembles that of the winner, by id.

    The rows need the columns id, digest and current_version_id.
    """
    if len(rivals) == 1:
        return {}
    sketches: dict[int, bytes | None] = dict(
        db.execute(_SKETCHES, [sql.to_json([row["current_version_id"] for row in rivals])])
    )
    own = sketches.get(winner["current_version_id"])
    found = {}
    for row in rivals:
        if row["digest"] == winner["digest"]:
            found[row["id"]] = "the same content"
        elif (similar := similarity(own, sketches.get(row["current_version_id"]))) >= SIMILAR:
            # Bodies may be alike while other text or files differ.
            found[row["id"]] = f"similar content ({min(int(100 * similar), 99)} %)"
        else:
            found[row["id"]] = "other content"
    return found


def reason(winner: sql.Row, resemblance: str) -> str:
    """Return the reason of a shadowed skill, given how its content resembles the winner's."""
    where = f"{winner['root']}/{winner['path']}"
    return f"shadowed by the {winner['level']} skill in {where}, with {resemblance}"


def _decision(
    db: Database, row: sql.Row, winner: sql.Row, resemblances: Mapping[int, str]
) -> tuple[str, int | None, str | None]:
    if row["id"] == winner["id"] and row["is_withheld"]:
        (version,) = db.execute(
            "SELECT version FROM versions WHERE id = ?", [row["current_version_id"]]
        ).fetchone()
        return (
            "shadowed",
            None,
            withheld.reason(version, is_held=row["pinned_version_id"] is not None),
        )
    if row["id"] == winner["id"]:
        return ("active", None, None)
    return ("shadowed", winner["id"], reason(winner, resemblances[row["id"]]))

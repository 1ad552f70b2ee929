"""Shadowing among skills of one skill_id: one is active, the others are shadowed.

A winner whose files are lost is withheld, and keeps the name; see `withheld`.
"""

from collections import defaultdict
from collections.abc import Iterable

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.model.precedence import precedence
from catalog.model.values import IngestionOutcome, Trigger
from catalog.writing.rows import ingestions, lookalikes
from catalog.writing.rows.ingestions import Ingestion

_CONTENDERS = f"""
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.status_reason,
           s.is_alias, s.pinned_version_id, s.current_version_id, s.last_changed,
           r.position,
           {withheld.CANNOT_BE_GIVEN} AS is_withheld
    FROM json_each(?) AS contested
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = contested.value AND s.status IN ('active', 'shadowed')
    JOIN roots AS r ON r.path = s.root
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
        for row in rivals:
            current = (row["status"], row["shadowed_by"], row["status_reason"])
            if current != (decision := _decision(db, row, winner)):
                decided.append((*decision, at, row["id"]))
                changes.append(_ingestion(row, decision, at, trigger))
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


def _decision(db: Database, row: sql.Row, winner: sql.Row) -> tuple[str, int | None, str | None]:
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
    where = f"{winner['root']}/{winner['path']}"
    return ("shadowed", winner["id"], f"shadowed by the {winner['level']} skill in {where}")

"""Shadowing among skills of one skill_id: one is active, the others shadowed.

One that wins and of which nothing can be given is withheld, and keeps the name; see `withheld`.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.model.precedence import precedence
from catalog.writing.rows import lookalikes

log = logging.getLogger("skilldrop")

_CONTENDERS = f"""
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.status_reason,
           s.is_alias, s.pinned_version_id, s.current_version_id, r.position,
           {withheld.CANNOT_BE_GIVEN} AS is_withheld
    FROM json_each(?) AS wanted
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = wanted.value AND s.status IN ('active', 'shadowed')
    JOIN roots AS r ON r.path = s.root
"""
_DISPUTED = """
    SELECT skill_id FROM skills WHERE status IN ('active', 'shadowed')
    GROUP BY skill_id HAVING count(*) > 1
"""


def decide(db: Database, skill_ids: Iterable[str], at: str) -> None:
    """Settle who is active among the skills of each skill_id, as of a time in ISO 8601."""
    skill_ids = set(skill_ids)
    contenders: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_CONTENDERS, [sql.to_json(sorted(skill_ids))]):
        contenders[row["skill_id"]].append(row)
    decided = []
    for rivals in contenders.values():
        winner = min(
            rivals,
            key=lambda r: precedence(
                r["level"], r["position"], r["path"], is_alias=bool(r["is_alias"])
            ),
        )
        for row in rivals:
            standing_now = (row["status"], row["shadowed_by"], row["status_reason"])
            if standing_now != (decision := _decision(db, row, winner)):
                decided.append((*decision, at, row["id"]))
                _tell(row, winner, decision[2])
    db.conn.executemany(
        "UPDATE skills SET status = ?, shadowed_by = ?, status_reason = ?,"
        " last_changed = max(last_changed, ?) WHERE id = ?",
        decided,
    )
    lookalikes.mark(db, skill_ids)


def decide_all(db: Database, at: str) -> None:
    """Decide every disputed skill_id again, as after a change in the order of the roots."""
    decide(db, [row["skill_id"] for row in db.query(_DISPUTED)], at)


def _tell(row: sql.Row, winner: sql.Row, why: str | None) -> None:
    place = f"{row['root']}/{row['path']}"
    if row["id"] == winner["id"] and why:
        log.warning(
            "%s: the skill in %r is %s; nothing of it is published", row["skill_id"], place, why
        )
    elif row["id"] == winner["id"]:
        log.info("%s: the skill in %r is active", row["skill_id"], place)
    else:
        log.info(
            "%s: the skill in %r is shadowed by the %s skill in %r",
            row["skill_id"],
            place,
            winner["level"],
            f"{winner['root']}/{winner['path']}",
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

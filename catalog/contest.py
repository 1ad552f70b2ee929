"""Lets the skills that share a skill_id compete: one becomes active, the others shadowed."""

import logging
from collections import defaultdict
from collections.abc import Iterable

from sqlite_utils import Database

from catalog import lookalikes, rows
from catalog.ranking import standing

log = logging.getLogger("skilldrop")

_CONTENDERS = """
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.status_reason,
           s.is_alias, r.position
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
    contenders: dict[str, list[rows.Row]] = defaultdict(list)
    for row in db.query(_CONTENDERS, [rows.to_json(sorted(skill_ids))]):
        contenders[row["skill_id"]].append(row)
    decided = []
    for rivals in contenders.values():
        winner = min(rivals, key=lambda r: standing(
            r["level"], r["position"], r["path"], is_alias=bool(r["is_alias"])))
        for row in rivals:
            standing_now = (row["status"], row["shadowed_by"], row["status_reason"])
            if standing_now != (decision := _decision(row, winner)):
                decided.append((*decision, at, row["id"]))
                _tell(row, winner)
    db.conn.executemany(
        "UPDATE skills SET status = ?, shadowed_by = ?, status_reason = ?,"
        " last_changed = max(last_changed, ?) WHERE id = ?", decided,
    )
    lookalikes.mark(db, skill_ids)


def decide_all(db: Database, at: str) -> None:
    """Settle every disputed skill_id anew, as after a change in the order of the roots."""
    decide(db, [row["skill_id"] for row in db.query(_DISPUTED)], at)


def _tell(row: rows.Row, winner: rows.Row) -> None:
    place = f"{row['root']}/{row['path']}"
    if row["id"] == winner["id"]:
        log.info("%s: the skill in %r is active", row["skill_id"], place)
    else:
        log.info("%s: the skill in %r is shadowed by the %s skill in %r", row["skill_id"], place,
                 winner["level"], f"{winner['root']}/{winner['path']}")


def _decision(row: rows.Row, winner: rows.Row) -> tuple[str, int | None, str | None]:
    if row["id"] == winner["id"]:
        return ("active", None, None)
    where = f"{winner['root']}/{winner['path']}"
    return ("shadowed", winner["id"], f"shadowed by the {winner['level']} skill in {where}")

"""Contradictions inside the catalog itself."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from sqlite_utils import Database

from catalog.audit.difference import Difference
from catalog.database import sql, withheld
from catalog.model.precedence import precedence
from catalog.writing.rows import search_rows, shadowing


def of_catalog(db: Database) -> Iterator[Difference]:
    """Yield wrong winners and reasons among rivals for a skill_id, and wrong rows of the search."""
    rivals: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_ACCEPTED):
        rivals[row["skill_id"]].append(row)
    for skill_id, group in rivals.items():
        yield from _of_rivals(db, skill_id, group)
    for wrong in search_rows.wrong_rows(db):
        yield Difference("catalog", wrong.root, wrong.path, "its search entry is wrong")


def _of_rivals(db: Database, skill_id: str, group: Sequence[sql.Row]) -> Iterator[Difference]:
    winner = min(group, key=_precedence)
    resemblances = shadowing.resemblance(db, winner, group)
    for row in group:
        if row is not winner:
            expected = ("shadowed", winner["id"])
        else:
            expected = ("shadowed" if row["is_withheld"] else "active", None)
        if (row["status"], row["shadowed_by"]) != expected:
            status = "withheld" if winner["is_withheld"] else "active"
            yield Difference(
                "catalog",
                row["root"],
                row["path"],
                f"of the skills with the skill_id {skill_id}, {winner['path']} should be {status}",
            )
        elif row is not winner and row["status_reason"] != shadowing.reason(
            winner, resemblances[row["id"]]
        ):
            yield Difference("catalog", row["root"], row["path"], "its status_reason is outdated")


def _precedence(row: sql.Row) -> tuple[object, ...]:
    return precedence(row["level"], row["position"], row["path"], is_alias=bool(row["is_alias"]))


_ACCEPTED = f"""
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.is_alias,
           s.status_reason, s.digest, s.current_version_id,
           r.position, {withheld.CANNOT_BE_GIVEN} AS is_withheld
    FROM skills AS s JOIN roots AS r ON r.path = s.root
    WHERE s.status IN ('active', 'shadowed')
"""

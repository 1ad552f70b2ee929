"""Contradictions inside the catalog itself."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from sqlite_utils import Database

from catalog.audit.difference import Difference
from catalog.database import sql
from catalog.writing.rows import references, search_rows, shadowing


def of_catalog(db: Database) -> Iterator[Difference]:
    """Yield wrong winners and reasons among rivals for a skill_id, and wrong derived rows."""
    rivals: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_ACCEPTED):
        rivals[row["skill_id"]].append(row)
    for skill_id, group in rivals.items():
        yield from _of_rivals(db, skill_id, group)
    for wrong in search_rows.wrong_rows(db):
        yield Difference("catalog", wrong.root, wrong.path, "its search entry is wrong")
    for row in references.wrong_skills(db):
        yield Difference(
            "catalog", row["root"], row["path"], "its references to other skills are outdated"
        )


def _of_rivals(db: Database, skill_id: str, group: Sequence[sql.Row]) -> Iterator[Difference]:
    winner = shadowing.winner_of(group)
    resemblances = shadowing.resemblance(db, winner, group)
    for row in group:
        expected = shadowing.decision_on(db, row, winner, resemblances)
        if (row["status"], row["shadowed_by"]) != expected[:2]:
            status = "withheld" if winner["is_withheld"] else "active"
            yield Difference(
                "catalog",
                row["root"],
                row["path"],
                f"of the skills with the skill_id {skill_id}, {winner['path']} should be {status}",
            )
        elif row is not winner and tuple(row[name] for name in expected._fields) != expected:
            yield Difference("catalog", row["root"], row["path"], "its status_reason is outdated")


_ACCEPTED = f"""
    SELECT {shadowing.RIVAL}
    FROM skills AS s JOIN roots AS r ON r.path = s.root
    WHERE s.status IN ('active', 'shadowed')
"""

"""Contradictions inside the catalog itself."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from catalog.audit.difference import Difference
from catalog.database import sql
from catalog.database.queries import Database
from catalog.database.withheld import HAS_APPROVAL
from catalog.writing.rows import references, search_rows, shadowing


def of_catalog(db: Database) -> Iterator[Difference]:
    """Yield wrong winners and reasons among rivals, unapproved versions, and wrong derived rows."""
    rivals: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_ACCEPTED):
        rivals[row["skill_id"]].append(row)
    for skill_id, group in rivals.items():
        yield from _of_rivals(db, skill_id, group)
    for root, path in db.execute(_UNAPPROVED).fetchall():
        yield Difference("catalog", root, path, "it is at a version that nobody has approved")
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
_UNAPPROVED = f"""
    SELECT s.root, s.path FROM versions AS v
    JOIN skills AS s INDEXED BY skills_by_current_version_id ON s.current_version_id = v.id
    WHERE v.review IS NOT NULL AND s.status IN ('active', 'shadowed')
        AND NOT (v.review = 'approved' AND {HAS_APPROVAL})
"""

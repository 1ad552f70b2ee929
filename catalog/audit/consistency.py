"""Contradictions inside the catalog itself."""

from collections import defaultdict
from collections.abc import Iterator

from sqlite_utils import Database

from catalog.audit.difference import Difference
from catalog.database import sql, withheld
from catalog.model.precedence import precedence
from catalog.writing.rows import search_rows

# Against itself


def of_catalog(db: Database) -> Iterator[Difference]:
    """Yield where skills of one skill_id compete wrongly, and where the search has other skills."""
    rivals: dict[str, list[sql.Row]] = defaultdict(list)
    for row in db.query(_PRESENT):
        rivals[row["skill_id"]].append(row)
    for skill_id, group in rivals.items():
        winner = min(
            group,
            key=lambda r: precedence(
                r["level"], r["position"], r["path"], is_alias=bool(r["is_alias"])
            ),
        )
        for row in group:
            expected = (
                ("shadowed", winner["id"])
                if row is not winner
                else ("shadowed", None)
                if row["is_withheld"]
                else ("active", None)
            )
            if (row["status"], row["shadowed_by"]) != expected:
                should = "withheld" if winner["is_withheld"] else "the active skill"
                yield Difference(
                    "catalog",
                    f"{row['root']}/{row['path']}",
                    f"of {skill_id} {winner['path']} should be {should}",
                )
    for wrong in search_rows.wrong_rows(db):
        yield Difference(
            "catalog", f"{wrong.root}/{wrong.path}", "the search does not have what it should"
        )


_PRESENT = f"""
    SELECT s.id, s.skill_id, s.level, s.root, s.path, s.status, s.shadowed_by, s.is_alias,
           r.position, {withheld.CANNOT_BE_GIVEN} AS is_withheld
    FROM skills AS s JOIN roots AS r ON r.path = s.root
    WHERE s.status IN ('active', 'shadowed')
"""

"""Pages of the active skills that agents or users may start, in index order."""

from typing import Literal, TypeAlias

from catalog.database import sql
from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.text.suggestions import shown

Starter: TypeAlias = Literal["model", "user"]

_KEY = "level_rank, -ifnull(priority, 0), name, id"
_SKILLS = """
    SELECT id, name, skill_id, display_name, description, frontmatter FROM skills AS s
    WHERE status = 'active'
"""


def page(
    db: Database, starter: Starter, limit: int, after: int | None = None
) -> tuple[list[sql.Row], int | None]:
    """Return up to `limit` skills after a row, and the row after which the next page starts.

    A skill that does not change is on exactly one page, whatever is published meanwhile. The
    second value is None on the last page. Raises NotInCatalog if the row is gone.
    """
    known = "SELECT 1 FROM skills WHERE id = ?"
    if after is not None and not db.execute(known, [after]).fetchone():
        raise NotInCatalog(f"The catalog has no skill in row {after}.")
    rest = "" if after is None else f"AND ({_KEY}) > (SELECT {_KEY} FROM skills WHERE id = :after)"
    rows = list(
        db.query(
            f"{_SKILLS} AND {starter}_invocable = 1 {rest} ORDER BY {INDEX_ORDER} LIMIT :limit",
            {"after": after, "limit": limit + 1},
        )
    )
    return rows[:limit], rows[limit - 1]["id"] if len(rows) > limit else None


def one(db: Database, starter: Starter, skill_id: str) -> sql.Row:
    """Return the skill with a skill_id. Raises NotInCatalog."""
    for row in db.query(f"{_SKILLS} AND {starter}_invocable = 1 AND skill_id = ?", [skill_id]):
        return row
    raise NotInCatalog(f"There is no skill {shown(skill_id)} that a {starter} may start.")


def versions(db: Database, starter: Starter) -> dict[str, int]:
    """Return the rows of the current versions by skill_id: the same while nothing changes."""
    return dict(
        db.execute(
            "SELECT skill_id, current_version_id FROM skills"
            f" WHERE status = 'active' AND {starter}_invocable = 1"
        ).fetchall()
    )

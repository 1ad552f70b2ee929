"""References between skills: those of a skill, those to it, and all skills that it needs."""

from dataclasses import dataclass
from posixpath import join
from typing import NamedTuple

from catalog.database.queries import Database, Row
from catalog.model.paths import linked


@dataclass(frozen=True, slots=True)
class References:
    """References of one skill and to it; each row has the columns of the other skill."""

    uses: list[Row]  # once for each skill, with its first reference
    unresolved: list[Row]  # that lead to no skill
    used_by: list[Row]
    needed: list[Row]  # all skills that it declares to need, and those that they need

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the other skills: `uses`, `needs` in all, and `used_by`."""
        named = {"uses": self.uses, "needs": self.needed, "used_by": self.used_by}
        return {relation: [row["name"] for row in rows] for relation, rows in named.items()}

    def as_json(self) -> dict[str, list[Row]]:
        """Return the skills that it `uses` and is `used_by`, as published."""
        related = {"uses": self.uses, "used_by": self.used_by}
        return {relation: list(map(_published, rows)) for relation, rows in related.items()}


class ReferencedFile(NamedTuple):
    """File of another skill that a link leads to."""

    skill_id: str
    row: int | None  # of the skill, if it is not the active one of its skill_id
    path: str  # empty for the skill itself


def of_skill(db: Database, skill: int) -> References:
    """Return the references of a skill, by name."""
    return References(
        db.rows(_USES, [skill, skill]),
        db.rows(_UNRESOLVED, [skill]),
        db.rows(_USED_BY, [skill, skill]),
        db.rows(_NEEDED, [skill, skill]),
    )


def links(db: Database, skill: int, file: str) -> dict[str, ReferencedFile]:
    """Return the files of other skills that the links of a file lead to, by link.

    A link is relative to its file, and normalised. Without such a file it leads to the skill.
    """
    return {
        row["target"]: ReferencedFile(
            row["skill_id"],
            _row_of(row),
            row["path"] if row["exists"] and row["path"] != row["skill_md_name"] else "",
        )
        for row in db.query(f"{_LINKS} AND r.path = ?", [skill, file])
    }


def beside(db: Database, skill: Row, path: str) -> ReferencedFile | None:
    """Return the file of another skill at a path relative to the parent of a skill folder.

    None if no link of the skill leads there.
    """
    place = linked(join(skill["root"], skill["path"]), path)
    row = db.row(f"{_LINKS} AND r.place = ? LIMIT 1", [skill["id"], place])
    return ReferencedFile(row["skill_id"], _row_of(row), row["path"]) if row else None


def _row_of(skill: Row) -> int | None:
    return None if skill["status"] == "active" else skill["id"]


def used_by(db: Database, skill: int) -> list[str]:
    """Return the names of the active skills that refer to a skill."""
    return [row["name"] for row in db.query(_USED_BY, [skill, skill])]


def _published(row: Row) -> Row:
    published = {name: row[name] for name in ("skill_id", "name", "status")}
    return published | {"declared": bool(row["is_declared"])}


_OTHER = "s.id, s.skill_id, s.name, s.status, s.root, s.path AS folder"
_USES = f"""
    SELECT {_OTHER}, count(*) AS n, max(r.kind = 'declared') AS is_declared,
           sum(r.problem IS NOT NULL) AS problems, r.path, min(r.line) AS line
    FROM skill_references AS r INDEXED BY skill_references_by_skill JOIN skills AS s
        ON s.id = r.to_skill
    WHERE r.skill = ? AND s.id != ? GROUP BY s.id ORDER BY is_declared DESC, s.name, s.id
"""
_UNRESOLVED = """
    SELECT kind, target, field, problem, path, line
    FROM skill_references INDEXED BY skill_references_by_skill
    WHERE skill = ? AND to_skill IS NULL AND problem IS NOT NULL ORDER BY id
"""
_USED_BY = f"""
    SELECT {_OTHER}, count(*) AS n, max(r.kind = 'declared') AS is_declared
    FROM skill_references AS r INDEXED BY skill_references_by_to_skill JOIN skills AS s
        ON s.id = r.skill
    WHERE r.to_skill = ? AND s.id != ? AND s.status = 'active'
    GROUP BY s.id ORDER BY is_declared DESC, s.name, s.id
"""
_NEEDED = f"""
    WITH RECURSIVE needed (skill) AS (
        SELECT ?
        UNION
        SELECT r.to_skill FROM needed CROSS JOIN skill_references AS r
            INDEXED BY skill_references_by_skill
            ON r.skill = needed.skill AND r.kind = 'declared' AND r.to_skill IS NOT NULL)
    SELECT {_OTHER} FROM needed CROSS JOIN skills AS s ON s.id = needed.skill
    WHERE s.id != ? ORDER BY s.name, s.id
"""  # UNION keeps each skill once, so a cycle ends.
_LINKS = """
    SELECT r.target, s.id, s.skill_id, s.status, s.skill_md_name,
           substr(r.place, length(s.root || '/' || s.path) + 2) AS path,
           EXISTS (SELECT 1 FROM files AS f WHERE f.version = s.current_version_id
                   AND f.path = substr(r.place, length(s.root || '/' || s.path) + 2)) AS "exists"
    FROM skill_references AS r INDEXED BY skill_references_by_skill JOIN skills AS s
        ON s.id = r.to_skill
    WHERE r.skill = ? AND r.kind = 'link'
"""

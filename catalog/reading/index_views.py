"""Queries behind the pages about prompt indexes."""

from catalog.database import index_order
from catalog.database.queries import Database
from catalog.database.sql import Row


def indexes(db: Database) -> list[Row]:
    """Return the configured indexes, each with its last publication."""
    return list(db.query(_INDEXES + " ORDER BY i.position"))


def index(db: Database, name: str) -> Row | None:
    """Return one index with its present text; None where no index has that name."""
    return next(
        db.query(_INDEXES.replace("SELECT", "SELECT t.text,", 1) + " WHERE i.name = ?", [name]),
        None,
    )


def index_entries(db: Database, name: str) -> list[Row]:
    """Return the skills in an index, in its order."""
    return list(
        db.query(
            "SELECT e.rank, e.state, e.chars, e.reason, e.shown, s.skill_id, s.name, s.description,"
            " s.level"
            " FROM index_entries AS e JOIN skills AS s ON s.id = e.skill"
            " WHERE e.index_name = ? ORDER BY e.rank",
            [name],
        )
    )


def index_left_out(db: Database, name: str, limit: int) -> tuple[list[Row], dict[str, int]]:
    """Return active skills that are not in an index, and their number for each reason."""
    rows = list(
        db.query(
            "SELECT o.skill_id, o.name, o.reason, s.description, s.level FROM index_left_out AS o"
            " JOIN skills AS s ON s.id = o.skill WHERE o.index_name = ?"
            f" ORDER BY o.reason, {index_order.SQL} LIMIT ?",
            [name, limit],
        )
    )
    counts = db.execute(
        "SELECT reason, count(*) FROM index_left_out WHERE index_name = ?"
        " GROUP BY reason ORDER BY reason",
        [name],
    )
    return rows, dict(counts.fetchall())


def index_states(db: Database, skill: int) -> list[Row]:
    """Return the state and rank of an active skill in each index, or why it is left out."""
    return list(
        db.query(
            "SELECT i.name, ifnull(i.budget_chars, i.budget_tokens) AS budget,"
            " iif(i.budget_chars IS NULL, 'tokens', 'characters') AS unit, i.filter,"
            " e.rank, e.state, e.chars,"
            " e.reason, e.shown,"
            " (SELECT o.reason FROM index_left_out AS o WHERE o.skill = :skill"
            "  AND o.index_name = i.name) AS left_out"
            " FROM indexes AS i LEFT JOIN index_entries AS e"
            " ON e.index_name = i.name AND e.skill = :skill ORDER BY i.position",
            {"skill": skill},
        )
    )


_INDEXES = """
    SELECT i.name, i.format, i.language, i.filter, i.featured, i.budget_chars, i.budget_tokens,
           i.overflow, i.location_base, b.sha256, b.published_at, b."full", b.shortened,
           b.name_only, b.left_out, t.chars, t.estimated_tokens,
           ifnull(i.budget_chars, i.budget_tokens) AS budget,
           iif(i.budget_chars IS NULL, 'tokens', 'characters') AS unit,
           ifnull(iif(i.budget_chars IS NULL, t.estimated_tokens, t.chars), 0) AS used
    FROM indexes AS i LEFT JOIN index_builds AS b ON b.id = i.last_build_id
    LEFT JOIN index_texts AS t ON t.sha256 = b.sha256
"""

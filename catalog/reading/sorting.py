"""Orders of skills in lists and searches."""

from catalog.database.queries import Database
from catalog.model.errors import FilterInvalid
from catalog.text import suggestions
from catalog.usage import database as usage_database

SORTS = ("relevance", "updated", "name", "size", "reads")
"""Orders of results; `size` is the tokens of SKILL.md, smallest first."""


def parse(text: str) -> str:
    """Return the order that is asked for, "" for none. Raises FilterInvalid with the known ones."""
    if text and text not in SORTS:
        wrong, known = suggestions.shown(text), ", ".join(SORTS)
        raise FilterInvalid(f"Results cannot be sorted by {wrong}; known: {known}.")
    return text


def order_by(db: Database, sort: str) -> str:
    """Return the ORDER BY of skills `s`; the most read come first only where reads are counted."""
    if sort == "reads" and usage_database.is_attached(db.conn):
        return _BY_READS + _ORDERS["updated"]
    return _ORDERS.get(sort, _ORDERS["updated"])


_ORDERS = {
    "updated": "s.last_changed DESC, s.id DESC",
    "name": "s.name, s.id",
    "size": "s.estimated_tokens IS NULL, s.estimated_tokens, s.id",
}
_BY_READS = """
    ifnull((SELECT sum(reads) FROM usage.reads
            WHERE skill_id = s.skill_id AND day >= date('now', '-29 days')), 0) DESC,
"""

"""Orders of skills, as SQL."""

from catalog.database.queries import Database
from catalog.usage import database as usage_database

_ORDERS = {
    "updated": "s.last_changed DESC, s.id DESC",
    "name": "s.name, s.id",
    "size": "s.estimated_tokens IS NULL, s.estimated_tokens, s.id",
}
_BY_READS = """
    ifnull((SELECT sum(reads) FROM usage.reads
            WHERE skill_id = s.skill_id AND day >= date('now', '-29 days')), 0) DESC,
"""


def order_by(db: Database, sort: str) -> str:
    """Return the ORDER BY of skills `s`; the most read come first only where reads are counted."""
    if sort == "reads" and usage_database.is_attached(db.conn):
        return _BY_READS + _ORDERS["updated"]
    return _ORDERS.get(sort, _ORDERS["updated"])

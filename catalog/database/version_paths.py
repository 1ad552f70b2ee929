"""Paths of versions in the indexes; while there are some, superseded versions keep SKILL.md."""

from catalog.database.queries import Database

ARE_NAMED = """
    EXISTS (SELECT 1 FROM indexes WHERE locations = 'version'
        AND ifnull(location_base, '') NOT LIKE 'http%')
"""
"""SQL condition: agents hold paths of versions, and read them whatever has been published since."""


def are_named(db: Database) -> bool:
    """Return whether an index names the paths of versions."""
    return bool(db.execute(f"SELECT {ARE_NAMED}").fetchone()[0])

"""The shape of the catalog: numbered migrations, in the order in which they landed.

A landed migration is never edited; a change to the schema is a new one below it. Their DDL, the
only one in the project, stands in `catalog.ddl` by subject.
"""

import sqlite3

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from catalog.database.ddl import (
    apexbridge,
    canned_queries,
    history,
    outcomes,
    prompt_indexes,
    recovery,
    search,
    skills,
    troubles,
)
from catalog.text.body import body_of
from catalog.text.confusables import skeleton

APPLICATION_ID = 0x534B4454
"""`SKDT` in the header of every catalog, so that a foreign database is never written to."""

migrations = Migrations("skilldrop")


@migrations()
def m001_roots_and_skills(db: Database) -> None:
    """Create the folders we look at, what was found in them, and each accepted content."""
    _run(db, skills.ROOTS_AND_SKILLS)


@migrations()
def m002_history(db: Database) -> None:
    """Create what happened: scans, ingestions, wishes of commands, and the one health row."""
    _run(db, history.HISTORY)


@migrations()
def m003_indexes(db: Database) -> None:
    """Create the prompt indexes: their settings, texts, publications and entries."""
    _run(db, prompt_indexes.INDEXES)


@migrations()
def m004_search(db: Database) -> None:
    """Create the full-text search over a real table, kept by triggers."""
    _run(db, search.SEARCH)


@migrations()
def m005_product_views(db: Database) -> None:
    """Create the views in the field names of the product specification."""
    _run(db, search.PRODUCT_VIEWS)


@migrations()
def m008_index_words_and_counts(db: Database) -> None:
    """Add the words of an index that can be set, and count what indexes may name as it changes.

    Counting 100,000 skills at every rebuild would cost more than the rebuild.
    """
    _run(db, prompt_indexes.INDEX_WORDS_AND_COUNTS)


@migrations()
def m010_outcomes(db: Database) -> None:
    """Create what runs of skills came to, as their runtimes say it."""
    _run(db, outcomes.OUTCOMES)


@migrations()
def m007_held_removals(db: Database) -> None:
    """Remember where roots lie and which removals were accepted; say when all is quiet."""
    _run(db, history.HELD_REMOVALS)


@migrations()
def m008b_tags_in_index_order(db: Database) -> None:
    """Keep the tags of the skills that indexes may name, in the order in which they enter one."""
    _run(db, prompt_indexes.TAGS_IN_INDEX_ORDER)


@migrations()
def m009_apexbridge(db: Database) -> None:
    """Create what skills declare for ApexBridge; the next scan fills it in."""
    _run(db, apexbridge.APEXBRIDGE)


@migrations()
def m006_packages(db: Database) -> None:
    """Add what publication needs to know: what a version said of itself, and since when it rests.

    `described` is what `skills` had of a version and `versions` has not, as JSON, so that it can
    be returned to; `retired_at` is since when a package is no longer what agents are given.
    """
    _run(db, skills.PACKAGES)


@migrations()
def m011_aliases(db: Database) -> None:
    """Remember which skill folders are reached through a link."""
    _run(db, skills.ALIASES)


@migrations()
def m012_errors_first(db: Database) -> None:
    """Find the errors among many findings, which the status asks for, without reading them all."""
    _run(db, history.ERRORS_FIRST)


@migrations()
def m011_facets(db: Database) -> None:
    """Say of each skill whether it has scripts, and count by the columns that people narrow by.

    Without these indexes each facet reads all skills, and together they take twice as long as
    the rest of the page.
    """
    _run(db, skills.FACETS)


@migrations()
def m013_questions(db: Database) -> None:
    """Answer from an index what the service, the status and the list of findings ask often."""
    _run(db, canned_queries.QUESTIONS)


@migrations()
def m014_texts_come_together(db: Database) -> None:
    """Leave to triggers only what goes from the full-text search; see `texts.replace`."""
    _run(db, search.TEXTS_COME_TOGETHER)


@migrations()
def m015_packaged(db: Database) -> None:
    """Name the packages there should be, as each start asks, without reading every version."""
    _run(db, skills.PACKAGED)


@migrations()
def m016_bodies_once(db: Database) -> None:
    """Search the bodies where they stand in SKILL.md: their copies were a third of the catalog."""
    db.conn.create_function(
        "first_byte", 2, lambda skill_md, body: body_of(skill_md, len(body)).first_byte
    )
    _run(db, search.BODIES_ONCE)


@migrations()
def m023_lookalikes_and_named_versions(db: Database) -> None:
    """Note of each skill_id what it looks like, and of indexes which versions they name.

    Those that look alike find one another by it, and what an index names is kept.
    """
    _run(db, prompt_indexes.VERSIONS_NAMED)
    _run(db, skills.LOOKALIKES)
    db.conn.executemany(
        "INSERT INTO name_skeletons VALUES (?, ?)",
        [
            (skill_id, skeleton(skill_id))
            for (skill_id,) in db.execute("SELECT DISTINCT skill_id FROM skills").fetchall()
        ],
    )


@migrations()
def m021_keeping(db: Database) -> None:
    """Note recoveries of a damaged file, and find old rows without reading all there are."""
    _run(db, recovery.RECOVERIES)
    _run(db, recovery.THINNING)


@migrations()
def m017_owned_and_verified(db: Database) -> None:
    """Give the catalog an identity, which its folders carry, and note when packages were hashed."""
    _run(db, skills.OWNED_AND_VERIFIED)


@migrations()
def m019_troubles(db: Database) -> None:
    """Create what the service says of work that failed and is tried again."""
    _run(db, troubles.TROUBLES)


@migrations()
def m020_why_removals_are_held(db: Database) -> None:
    """Say of each held removal why, know the mounts below roots, and time removals by no clock."""
    _run(db, history.WHY_REMOVALS_ARE_HELD)


@migrations()
def m024_no_hold_at_deleted_content(db: Database) -> None:
    """Let skills go whose content was deleted while they were held, as is done at once now."""
    _run(db, skills.NO_HOLD_AT_DELETED_CONTENT)


def unknown_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the migrations of a catalog that this release does not have, oldest first.

    Raises sqlite3.Error.
    """
    table = Migrations.migrations_table
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchone():
        return []
    known = {migration.name for migration in migrations._migrations}
    return [
        name
        for (name,) in connection.execute(
            f"SELECT name FROM {table} WHERE migration_set = ? ORDER BY rowid", [migrations.name]
        )
        if name not in known
    ]


def _run(db: Database, script: str) -> None:
    """Run statements one by one; `executescript` would commit the migration's transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""

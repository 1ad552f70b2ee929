"""Numbered migrations of the catalog's tables, oldest first.

A released migration is never edited; a change to the schema is a new one below it. The DDL is in
`catalog.database.ddl`, by subject.
"""

import sqlite3

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from catalog.database import schema_version
from catalog.database.ddl import (
    activity,
    apexbridge,
    facets,
    folder_stats,
    history,
    left_out,
    links,
    mirrors,
    names,
    outcomes,
    package_sizes,
    packed_texts,
    prompt_indexes,
    recovery,
    references,
    reviews,
    runs,
    search,
    short_rows,
    similarity,
    site_address,
    skills,
    troubles,
)
from catalog.database.packed_texts import register
from catalog.database.short_texts import SHORT_FORMS

migrations = Migrations(schema_version.MIGRATION_SET)


def apply(connection: sqlite3.Connection) -> None:
    """Apply the migrations that a catalog lacks. Raises sqlite3.Error."""
    migrations.apply(Database(connection))


@migrations()
def m001_schema(db: Database) -> None:
    """Create all tables, views and triggers, in the order of their references."""
    for script in (
        skills.SKILLS,
        history.HISTORY,
        prompt_indexes.PROMPT_INDEXES,
        search.SEARCH,
        search.PRODUCT_VIEWS,
        outcomes.OUTCOMES,
        apexbridge.APEXBRIDGE,
        recovery.RECOVERIES,
        troubles.TROUBLES,
    ):
        _run(db, script)


@migrations()
def m002_similarity(db: Database) -> None:
    """Create the tables of sketches; the next start fills them for the versions stored before."""
    _run(db, similarity.SIMILARITY)
    _run(db, similarity.MARK_MISSING)


@migrations()
def m003_links(db: Database) -> None:
    """Create the tables of the directories of links; the next start fills them."""
    _run(db, links.LINKS)


@migrations()
def m004_package_sizes(db: Database) -> None:
    """Let the size of all packages be read from an index."""
    _run(db, package_sizes.PACKAGE_SIZES)


@migrations()
def m005_names(db: Database) -> None:
    """Add namespaces and incumbents; present winners keep their names."""
    _run(db, names.NAMES)
    _run(db, names.INCUMBENTS)


@migrations()
def m006_site_address(db: Database) -> None:
    """Add the address of the service's site; the next start fills it."""
    _run(db, site_address.SITE_ADDRESS)


@migrations()
def m007_left_out(db: Database) -> None:
    """Create the table of files that are part of no version; the next scan fills it."""
    _run(db, left_out.LEFT_OUT)


@migrations()
def m008_reviews(db: Database) -> None:
    """Add reviews; stored versions need none."""
    _run(db, reviews.REVIEWS)


@migrations()
def m009_references(db: Database) -> None:
    """Add the references between skills; the next scan reads them from all skills."""
    _run(db, references.REFERENCES)
    _run(db, references.JUDGE_AGAIN)


@migrations()
def m010_mirrors(db: Database) -> None:
    """Add the mirrors of repositories, and the commit of each version."""
    _run(db, mirrors.MIRRORS)


@migrations()
def m011_runs(db: Database) -> None:
    """Let a file have several outcomes, and an outcome name no skill."""
    _run(db, runs.RUNS)


@migrations()
def m013_activity(db: Database) -> None:
    """Let the changes of a scan, and those of no scan, be read from an index."""
    _run(db, activity.CHANGES_BY_SCAN)


@migrations()
def m014_facets(db: Database) -> None:
    """Add what lists are filtered by; the next start reads it from the versions stored before."""
    _run(db, facets.FACETS)
    _run(db, facets.MARK_MISSING.format("TRUE"))


@migrations()
def m015_packed_texts(db: Database) -> None:
    """Store the texts of versions and files compressed."""
    register(db.conn)
    _run(db, packed_texts.PACK)


@migrations()
def m016_folder_stats(db: Database) -> None:
    """Add the stats of folders; the next scan fills the table."""
    _run(db, folder_stats.FOLDER_STATS)


@migrations()
def m017_short_rows(db: Database) -> None:
    """Write the full-text index and some texts so that they take less room.

    Texts packed before stay as they are.
    """
    register(db.conn)
    _run(db, short_rows.FILE_CONTENTS)
    _run(db, short_rows.SEARCHED_TEXTS)
    for form in SHORT_FORMS.values():
        _run(db, short_rows.SHORT_TEXTS.format(form))


def _run(db: Database, script: str) -> None:
    """Run statements one by one; `executescript` would commit the migration's transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


assert [each.name for each in migrations._migrations] == list(schema_version.MIGRATIONS)

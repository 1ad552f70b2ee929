"""Short forms of repeated texts, whose whole texts are generated columns."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from catalog.database.common_phrases import COMMON_PHRASES
from catalog.database.migrations import migrations
from catalog.database.short_texts import FRONTMATTER, SHORT_FORMS, STEPS, ShortForm
from catalog.database.sql import to_json
from pipeline.sync.engines.judging import _Steps
from tests.catalog.database.test_packed_texts import ROWS

TEXT = st.text(st.characters(codec="utf-8"))
EARLIER = """
    UPDATE skills SET frontmatter = '{"description":"Counts lines.  ","name":"a"}';
    INSERT INTO ingestions (skill, root, path, "trigger", outcome, started_at, took_ms, steps)
    VALUES (1, '/r', 'a', 'start', 'added', '2026-11-20T10:00:00.000+00:00', 1.5,
        '[{"stepId":"1","stepName":"read","input":"a","output":{"files":2,"bytes":9}}]');
"""
PUBLIC = """
    SELECT s.frontmatter, i.steps, t.name, t.description, t.body
    FROM skills AS s JOIN ingestions AS i ON i.skill = s.id JOIN searched_texts AS t ON t.id = s.id
"""


def stored_and_read(form: ShortForm, row: dict[str, str]) -> Iterator[str]:
    """Yield the short text of a row as Python and as SQLite make it, then the whole one."""
    with closing(sqlite3.connect(":memory:")) as db:
        names = ", ".join({**row, form.stored: ""})
        db.execute(f"CREATE TABLE one ({names})")
        for shortened in (form.short(row) | {form.column: row[form.column]}, row):
            columns = ", ".join(shortened)
            values = ", ".join("?" * len(shortened))
            db.execute("DELETE FROM one")
            db.execute(f"INSERT INTO one ({columns}) VALUES ({values})", list(shortened.values()))
            if form.stored not in shortened:
                db.execute(f"UPDATE one SET {form.stored} = {form.shortening}")
            yield from db.execute(f"SELECT {form.stored} FROM one").fetchone()
        yield from db.execute(f"SELECT {form.whole} FROM one").fetchone()


@given(TEXT, TEXT)
def test_the_whole_frontmatter_comes_back(description: str, other: str) -> None:
    """From any description; Python and SQLite shorten alike."""
    whole = to_json({"description": f"{description}{other}", "other": other})
    row = {"description": description, "frontmatter": whole}
    short, migrated, read = stored_and_read(FRONTMATTER, row)
    assert (short, read) == (migrated, whole)


@given(TEXT)
def test_the_whole_steps_come_back(path: str) -> None:
    """From any path."""
    steps = _Steps()
    steps.add("read", path, {"files": 2, "bytes": 900})
    steps.add("parse", "SKILL.md", {"findings": 0})
    steps.add("validate", ["spec", path], {"accepted": True, "findings": 0})
    row = {"path": path, "started_at": steps.started_at, "steps": steps.as_json()}
    short, migrated, read = stored_and_read(STEPS, row)
    assert (short, read) == (migrated, steps.as_json())
    assert len(short) < len(read)


def test_a_catalog_of_an_earlier_release_shows_the_same() -> None:
    """The public columns stay, and the words of its texts can be searched and removed."""
    db = Database(memory=True)
    migrations.apply(db, stop_before="m015_packed_texts")
    db.conn.executescript(ROWS)
    migrations.apply(db, stop_before="m017_short_rows")
    db.conn.executescript(EARLIER)
    before = db.execute(PUBLIC).fetchall()
    migrations.apply(db)
    assert db.execute(PUBLIC).fetchall() == before
    assert db.execute("SELECT text FROM file_contents").fetchall() == [("one",)]
    assert db.execute("SELECT short_frontmatter FROM skills").fetchone() == (
        '{"description":\1  ","name":"a"}',
    )
    assert db.execute("SELECT description FROM skill_text").fetchall() == [(None,)]
    for table, word in (("skills_fts", "body : run"), ("skills_short_fts", "count")):
        found = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
        assert db.execute(found, [word]).fetchall() == [(1,)]
    db.execute("UPDATE skills SET description = 'Another.'")
    assert db.execute("SELECT description FROM searched_texts").fetchall() == [("Counts lines.",)]
    db.execute("DELETE FROM skill_text")
    for table in ("skills_fts", "skills_short_fts"):
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")


@pytest.mark.parametrize(
    ("stored", "digest"),
    [
        (COMMON_PHRASES, "619824e155a3579a"),
        (
            repr([(form.shortening, form.whole) for form in SHORT_FORMS.values()]).encode(),
            "fac547eb4e8503bd",
        ),
    ],
    ids=["phrases", "short forms"],
)
def test_catalogs_can_be_read_for_ever(stored: bytes, digest: str) -> None:
    """Stored texts refer to these; a change would show other texts."""
    assert hashlib.sha256(stored).hexdigest()[:16] == digest

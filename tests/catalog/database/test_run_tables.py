"""Migration of the tables of run outcomes."""

import pytest
from sqlite_utils import Database

from catalog.database.migrations import migrations

ROWS = """
    INSERT INTO outcomes (id, skill_id, run_id, revision, is_newest, form, status, failed, output,
        token_usage, warnings, findings, path, fingerprint, sha256, received_at)
    VALUES (7, 'a', 'r', 1, 1, 'outcome', 'ok', 0, '1', '{}', '[]', '[]', 'a/r.json', 'f',
         's', 't'),
        (8, 'a', 'q', 1, 1, 'outcome', 'ok', 0, '1', '{"input":1}', '[]', '[]', 'a/q.json', 'f',
         's', 't');
    INSERT INTO memory_writes (outcome, position, type, importance, importance_declared, content,
        metadata) VALUES (7, 1, 'fact', 2, 2, 'Tea.', '{}');
    INSERT INTO step_traces (outcome, position, step_id, step_name, duration, error, timestamp)
    VALUES (7, 1, 's', 'ask', 2, 'late', '2026-11-20');
"""


@pytest.fixture
def db() -> Database:
    """Return a catalog of the schema before, with an outcome and its parts."""
    db = Database(memory=True)
    db.execute("PRAGMA foreign_keys = ON")
    migrations.apply(db, stop_before="m011_runs")
    db.conn.executescript(ROWS)
    return db


def test_outcomes_keep_their_parts(db: Database) -> None:
    """Memories and steps stay those of their outcomes, under their ids."""
    migrations.apply(db)
    assert db.execute("SELECT id, path, line, run_id, token_usage FROM outcomes").fetchall() == [
        (7, "a/r.json", None, "r", None),
        (8, "a/q.json", None, "q", '{"input":1}'),
    ]
    assert db.execute(
        "SELECT outcome, content, error, error_declared FROM memory_writes JOIN step_traces"
        " USING (outcome)"
    ).fetchall() == [(7, "Tea.", "late", '"late"')]
    assert not db.execute("PRAGMA foreign_key_check").fetchall()
    db.execute("DELETE FROM outcomes WHERE id = 7")
    assert db.execute("SELECT count(*) FROM step_traces").fetchone() == (0,)
    assert not [name for name in db.table_names() if name.endswith("_before")]

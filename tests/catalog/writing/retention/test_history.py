"""Retention of versions and ingestions."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from catalog.model.change import Removal
from catalog.model.setting import Retention
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def store() -> Iterator[Store]:
    """Return a catalog in memory with a skill `a` in ten versions, one per day."""
    made = rooted(Store.in_memory())
    for day in range(10):
        made.apply([judged("a", f"Version {day}.")], trigger="event", at=NOON + day * DAY)
    yield made
    made.close()


def left(store: Store) -> list[str]:
    """Return the days of the remaining versions."""
    return [
        version[6:8] for (version,) in store.db.execute("SELECT version FROM versions ORDER BY id")
    ]


def count(store: Store, table: str) -> int:
    """Return the number of rows of a table."""
    return int(store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_the_newest_versions_stay_by_count(store: Store) -> None:
    """The files of the others are deleted, and so are ingestions above that number."""
    assert store.thin(Retention(history_rows=3), NOON + 10 * DAY) == 7
    assert left(store) == ["27", "28", "29"]
    assert count(store, "files") == 6
    assert count(store, "ingestions") == 3
    assert store.thin(Retention(history_rows=3), NOON + 10 * DAY) == 0


def test_versions_are_deleted_some_days_after_they_were_superseded(store: Store) -> None:
    """The current one stays at any age."""
    assert store.thin(Retention(history_days=3.5), NOON + 10 * DAY) == 6
    assert left(store) == ["26", "27", "28", "29"]
    assert store.thin(Retention(history_days=1), NOON + 1000 * DAY) == 3
    assert left(store) == ["29"]
    assert count(store, "ingestions") == 1  # the newest, so that its id is not used again


def test_versions_that_are_referred_to_stay(store: Store) -> None:
    """A version with a package, a pinned one, and the version of a run outcome."""
    ids = [version for (version,) in store.db.execute("SELECT id FROM versions ORDER BY id")]
    store.db.execute("UPDATE versions SET package_path = 'a/x' WHERE id = ?", [ids[0]])
    store.db.execute("UPDATE skills SET pinned_version_id = ?", [ids[1]])
    store.db.execute(
        "INSERT INTO outcomes (skill_id, run_id, revision, is_newest, skill, version, form, failed,"
        " output, token_usage, warnings, findings, path, sha256, received_at)"
        " VALUES ('a', 'run', 1, 1, 1, ?, 'outcome', 0, '', '', '', '', 'p', 's', '')",
        [ids[2]],
    )
    store.thin(Retention(history_rows=1, history_days=0), NOON + 1000 * DAY)
    assert left(store) == ["20", "21", "22", "29"]


def test_of_a_skill_removed_long_ago_no_version_stays(store: Store) -> None:
    """Its row stays; if the skill returns, it has a version again."""
    store.apply([Removal(ROOT, "a")], trigger="event", at=NOON + 20 * DAY)
    assert store.thin(Retention(history_days=365), NOON + 30 * DAY) == 0
    assert store.thin(Retention(history_days=365), NOON + 400 * DAY) == 10
    assert store.db.execute("SELECT status, current_version_id FROM skills").fetchone() == (
        "removed",
        None,
    )
    store.apply([judged("a", "Version 9.")], trigger="event", at=NOON + 500 * DAY)
    assert store.db.execute("SELECT status FROM skills").fetchone() == ("active",)
    assert count(store, "versions") == 1
    assert store.db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_file_stops_growing(store: Store) -> None:
    """New rows reuse the pages of deleted ones."""
    keep = Retention(history_rows=5)
    sizes = []
    for number in range(100):
        store.apply(
            [judged("a", f"Number {number}.", body="x" * 20_000)],
            trigger="event",
            at=NOON + (20 + number) * DAY,
        )
        store.thin(keep, NOON + (20 + number) * DAY)
        sizes.append(store.db.execute("PRAGMA page_count").fetchone()[0])
    assert sizes[-1] <= sizes[20] * 1.1

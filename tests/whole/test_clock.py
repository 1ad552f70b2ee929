"""Times of rows where the system's clock is set back between two changes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from catalog.model.change import Change, Removal
from catalog.model.setting import Retention
from catalog.prompt_index.builder import PromptIndex
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from tests.support.packages import World, later
from tests.support.records import NOON, ROOT, judged, refused, rooted
from tests.support.skills import SkillWriter

BACK = NOON - timedelta(hours=1)


@pytest.fixture
def store() -> Iterator[Store]:
    """Return a catalog in memory with one root."""
    made = rooted(Store.in_memory())
    yield made
    made.close()


def test_times_within_a_skill_never_go_back(store: Store) -> None:
    """Whatever changes, and the newest version has the last name."""
    changes: list[tuple[datetime, Change]] = [
        (NOON, judged("a", "One.")),
        (BACK, judged("a", "Two.")),
        (BACK, refused("a")),
        (BACK, judged("a", "Three.")),
        (BACK, Removal(ROOT, "a")),
        (BACK, judged("a", "Four.")),
    ]
    for at, change in changes:
        store.apply([change], trigger="event", at=at)
        assert store.db.execute("SELECT last_changed FROM skills").fetchone() == (
            NOON.isoformat(timespec="milliseconds"),
        )
    for table, column in (
        ("versions", "ingested_at"),
        ("versions", "version"),
        ("ingestions", "started_at"),
    ):
        times = [time for (time,) in store.db.execute(f"SELECT {column} FROM {table} ORDER BY id")]
        assert times == sorted(times), (table, column)
    assert store.db.execute(
        "SELECT count(*) FROM versions WHERE superseded_at < ingested_at"
    ).fetchone() == (0,)
    assert store.db.execute("SELECT min(newest_rejected_at) FROM skills").fetchone() == (None,)


def test_a_new_skill_has_the_time_of_the_clock(store: Store) -> None:
    """Later times of other skills have no effect."""
    store.apply([judged("a")], trigger="event", at=NOON)
    store.apply([judged("b")], trigger="event", at=BACK)
    assert store.db.execute("SELECT last_changed FROM skills WHERE path = 'b'").fetchone() == (
        BACK.isoformat(timespec="milliseconds"),
    )


def test_a_held_removal_comes_before_the_next_change(store: Store) -> None:
    """However the clock was set before and after it."""
    store.apply([judged("a", "One.")], trigger="event", at=NOON)
    store.removals.hold(ROOT, ["a"], NO_ROOT, trigger="re-scan", at=BACK)
    store.apply([judged("a", "Two.")], trigger="event", at=NOON)
    store.removals.hold(ROOT, ["a"], NO_ROOT, trigger="re-scan", at=NOON + 2 * (NOON - BACK))
    store.apply([Removal(ROOT, "a")], trigger="event", at=NOON)
    times = [time for (time,) in store.db.execute("SELECT started_at FROM ingestions ORDER BY id")]
    assert times == sorted(times)


def test_publications_of_an_index_never_go_back(store: Store) -> None:
    """Each time has one publication, and the newest is not removed as the oldest."""
    spec = IndexSpec()
    store.indexes.configure([spec])
    for at, text in ((NOON, "one"), (BACK, "two"), (BACK, "three")):
        store.indexes.record(spec, PromptIndex(text, ()), at)
    assert [
        text
        for (text,) in store.db.execute(
            "SELECT text FROM index_builds NATURAL JOIN index_texts ORDER BY published_at, id"
        )
    ] == ["one", "two", "three"]


def test_a_package_retired_in_the_future_is_collected_in_time(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """Its grace period starts now, not when the clock reaches that time."""
    world = World(tmp_path)
    for number in range(3):
        skill(world.root / "a", description=f"Version {number}.")
        world.scan()
    now = later(0)
    world.store.db.execute(
        "UPDATE versions SET retired_at = ? WHERE retired_at IS NOT NULL",
        [later(60 * 24 * 400).isoformat(timespec="milliseconds")],
    )
    kept = Retention(versions=1, version_days=90, grace=600)
    assert world.store.collect(kept, now) == 0
    assert world.store.collect(kept, now + timedelta(seconds=601)) == 2
    world.store.close()

"""Events: committed changes, delivered to each listener in order and at least once."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from catalog.model.change import Event, Removal
from catalog.writing import events as writing_events
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, refused, rooted


class Recorder(list[tuple[str, str]]):
    """A listener that records the outcome and path of its events."""

    def __call__(self, events: Sequence[Event]) -> None:
        """Record events."""
        self += [(event.outcome, event.path) for event in events]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a catalog with two listeners."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    store.events.register(["log", "hook"])
    yield store
    store.close()


def change(store: Store, *paths: str) -> None:
    """Add skills."""
    store.apply([judged(path, f"In {path}.") for path in paths], trigger="event", at=NOON)


def test_each_listener_receives_every_change_once_in_order(store: Store) -> None:
    """Independently of the other listeners."""
    change(store, "a")
    log, hook = Recorder(), Recorder()
    store.events.deliver("log", log)
    store.apply([refused("b"), Removal(ROOT, "a")], trigger="event", at=NOON)
    store.events.deliver("log", log)
    store.events.deliver("hook", hook)
    assert log == hook == [("added", "a"), ("rejected", "b"), ("removed", "a")]


def test_an_event_names_the_skill_and_its_version(store: Store) -> None:
    """A hook needs both."""
    change(store, "a")
    received: list[Event] = []
    store.events.deliver("log", received.extend)
    (event,) = received
    ((version,),) = store.db.execute("SELECT version FROM versions").fetchall()
    assert datetime.fromisoformat(event.at) == NOON
    assert event[1:] == (
        event.at,
        "added",
        "event",
        ROOT,
        "a",
        "a",
        "a",
        version,
        None,
        False,
        True,
        None,
        None,
        None,
        event.source,
        None,
    )
    assert event.source == ROOT.rpartition("/")[2]


def test_a_listener_that_fails_receives_its_events_again(store: Store) -> None:
    """Later events follow them."""
    change(store, "a")

    def fail(_: Sequence[Event]) -> None:
        raise OSError("the hook ended with 1")

    with pytest.raises(OSError, match="hook"):
        store.events.deliver("log", fail)
    change(store, "b")
    received = Recorder()
    store.events.deliver("log", received)
    assert received == [("added", "a"), ("added", "b")]


def test_undelivered_events_survive_a_restart(store: Store, tmp_path: Path) -> None:
    """A crash between the commit and the delivery loses none."""
    change(store, "a")
    store.close()
    again = Store.open(tmp_path / "catalog.db")
    again.events.register(["log", "hook"])
    received = Recorder()
    again.events.deliver("log", received)
    again.close()
    assert received == [("added", "a")]


def test_a_new_listener_receives_events_after_its_registration(store: Store) -> None:
    """A listener that was removed counts as new when it is registered again."""
    change(store, "a")
    store.events.register(["hook"])
    store.events.register(["log", "hook", "new"])
    change(store, "b")
    log, new = Recorder(), Recorder()
    store.events.deliver("log", log)
    store.events.deliver("new", new)
    assert log == new == [("added", "b")]


def test_many_events_are_delivered_in_batches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch is acknowledged before the next."""
    monkeypatch.setattr(writing_events, "BATCH", 2)
    change(store, "a", "b", "c")
    sizes: list[int] = []
    store.events.deliver("log", lambda events: sizes.append(len(events)))
    assert sizes == [2, 1]


def test_shadowing_and_its_end_are_events(store: Store) -> None:
    """They change the published skills, although no folder changed."""
    change(store, "a", "b/a")
    store.apply([Removal(ROOT, "a")], trigger="event", at=NOON)
    received = Recorder()
    store.events.deliver("log", received)
    assert received == [
        ("added", "a"),
        ("added", "b/a"),
        ("shadowed", "b/a"),
        ("removed", "a"),
        ("active", "b/a"),
    ]

"""What a command asks of the process that writes the catalog."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.database import request_table
from catalog.model.errors import CatalogUnusable, RequestFailed
from catalog.writing.store import Store
from tests.support.records import rooted


def now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Return the path of a catalog."""
    rooted(Store.open(tmp_path / "catalog.db")).close()
    return tmp_path / "catalog.db"


@pytest.mark.parametrize(
    ("answer", "said"),
    [({"done": {"a": [1]}}, None), ({"error": "There is no skill 'x'."}, "no skill 'x'")],
)
def test_an_answer_reaches_who_asked(
    catalog: Path, answer: dict[str, object], said: str | None
) -> None:
    """What was done comes back as it is, and what was not as its one sentence."""
    got: list[object] = []
    opened = threading.Event()

    def serve() -> None:
        store = Store.open(catalog)
        opened.set()
        while not (waiting := request_table.waiting(store.db, now())):
            pass
        (request,) = waiting
        got.append((request.what, request.arguments))
        assert request_table.begin(store.db, request, now())
        request_table.finish(store.db, request, now(), **answer)  # type: ignore[arg-type]
        assert request_table.waiting(store.db, now()) == []
        store.close()

    thread = threading.Thread(target=serve)
    thread.start()
    opened.wait()
    if said:
        with pytest.raises(RequestFailed, match=said):
            request_table.ask(catalog, "rollback", {"skill": "x"})
    else:
        assert request_table.ask(catalog, "rollback", {"skill": "x"}) == answer["done"]
    thread.join()
    assert got == [("rollback", {"skill": "x"})]


def test_what_nobody_takes_up_is_not_done_later(catalog: Path) -> None:
    """Who has gone away does not want it any more."""
    store = Store.open(catalog)
    with pytest.raises(RequestFailed, match="nothing was changed"):
        request_table.ask(catalog, "rollback", {}, patience=0.1)
    assert request_table.waiting(store.db, now()) == []
    store.close()


def test_who_asked_is_told_when_the_service_is_killed(catalog: Path) -> None:
    """Its last sign of life is old, and nobody holds the lock any more."""
    store = Store.open(catalog)
    store.health.set(service_pid=1, service_seen=now() - timedelta(minutes=1))
    waited: list[int] = []

    def waiting(seconds: int) -> None:
        waited.append(seconds)
        if len(waited) == 3:  # so long as it holds the lock it may only be slow
            assert request_table.begin(store.db, request_table.waiting(store.db, now())[0], now())
            store.close()

    with pytest.raises(RequestFailed, match="ended before it was done"):
        request_table.ask(catalog, "mend", {}, waiting=waiting)
    assert len(waited) == 3


def test_who_asked_is_told_when_the_catalog_is_exchanged(catalog: Path) -> None:
    """The answer would be written into another file."""
    store = Store.open(catalog)
    with pytest.raises(RequestFailed, match="nothing was changed"):
        request_table.ask(catalog, "mend", {}, waiting=lambda _: catalog.unlink())
    store.close()


def test_a_wish_of_somebody_who_was_killed_is_dropped(catalog: Path) -> None:
    """It would come as a surprise after hours; and what a dead service began is answered."""
    store = Store.open(catalog)
    store.db.execute(
        "INSERT INTO requests (what, asked_at) VALUES ('rollback', ?), ('unpin', ?)",
        [
            (now() - timedelta(hours=1)).isoformat(timespec="milliseconds"),
            now().isoformat(timespec="milliseconds"),
        ],
    )
    (request,) = request_table.waiting(store.db, now())
    assert request.what == "unpin"
    assert request_table.begin(store.db, request, now())
    assert not request_table.begin(store.db, request, now())
    request_table.abandon(store.db, now())
    assert "ended before" in store.db.execute("SELECT result FROM requests").fetchone()[0]
    store.close()


def test_a_catalog_that_is_none_is_said_so(tmp_path: Path) -> None:
    """In one sentence."""
    (tmp_path / "catalog.db").write_text("junk " * 1000)
    with pytest.raises(CatalogUnusable, match="not a database"):
        request_table.ask(tmp_path / "catalog.db", "rollback", {})

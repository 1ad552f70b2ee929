"""Requests of commands to the process that writes the catalog."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.database import requests
from catalog.database.requests import Requests
from catalog.model.errors import CatalogUnusable, NotPossible
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
def test_a_result_reaches_the_command(
    catalog: Path, answer: dict[str, object], said: str | None
) -> None:
    """A success returns its value, a failure its sentence."""
    got: list[object] = []
    opened = threading.Event()

    def serve() -> None:
        store = Store.open(catalog)
        opened.set()
        while not (waiting := Requests(store.db).waiting(now())):
            pass
        (request,) = waiting
        got.append((request.action, request.arguments))
        assert Requests(store.db).begin(request, now())
        Requests(store.db).finish(request, now(), **answer)  # type: ignore[arg-type]
        assert Requests(store.db).waiting(now()) == []
        store.close()

    thread = threading.Thread(target=serve)
    thread.start()
    opened.wait()
    if said:
        with pytest.raises(NotPossible, match=said):
            requests.ask(catalog, "pin", {"skill": "x"})
    else:
        assert requests.ask(catalog, "pin", {"skill": "x"}) == answer["done"]
    thread.join()
    assert got == [("pin", {"skill": "x"})]


def test_a_request_that_does_not_start_in_time_is_withdrawn(catalog: Path) -> None:
    """It is not carried out later, when its command has ended."""
    store = Store.open(catalog)
    with pytest.raises(NotPossible, match="nothing was changed"):
        requests.ask(catalog, "pin", {}, patience=0.1)
    assert Requests(store.db).waiting(now()) == []
    store.close()


def test_a_command_learns_that_the_service_was_killed(catalog: Path) -> None:
    """The last heartbeat is old, and no process holds the lock."""
    store = Store.open(catalog)
    store.set_health(service_pid=1, service_seen=now() - timedelta(minutes=1))
    waited: list[int] = []

    def waiting(seconds: int) -> None:
        waited.append(seconds)
        if len(waited) == 3:  # so long as it holds the lock it may only be slow
            assert Requests(store.db).begin(Requests(store.db).waiting(now())[0], now())
            store.close()

    with pytest.raises(NotPossible, match="ended before it was done"):
        requests.ask(catalog, "repair", {}, waiting=waiting)
    assert len(waited) == 3


def test_a_command_learns_that_the_catalog_was_replaced(catalog: Path) -> None:
    """The result would be written to another file."""
    store = Store.open(catalog)
    with pytest.raises(NotPossible, match="nothing was changed"):
        requests.ask(catalog, "repair", {}, waiting=lambda _: catalog.unlink())
    store.close()


def test_a_request_of_a_killed_command_is_dropped(catalog: Path) -> None:
    """It is not carried out hours later; requests that a dead service started are answered."""
    store = Store.open(catalog)
    store.db.execute(
        "INSERT INTO requests (action, asked_at) VALUES ('pin', ?), ('unpin', ?)",
        [
            (now() - timedelta(hours=1)).isoformat(timespec="milliseconds"),
            now().isoformat(timespec="milliseconds"),
        ],
    )
    (request,) = Requests(store.db).waiting(now())
    assert request.action == "unpin"
    assert Requests(store.db).begin(request, now())
    assert not Requests(store.db).begin(request, now())
    Requests(store.db).abandon(now())
    assert "ended before" in store.db.execute("SELECT result FROM requests").fetchone()[0]
    store.close()


def test_a_file_that_is_no_catalog_is_reported(tmp_path: Path) -> None:
    """The message is one sentence."""
    (tmp_path / "catalog.db").write_text("junk " * 1000)
    with pytest.raises(CatalogUnusable, match="not a database"):
        requests.ask(tmp_path / "catalog.db", "pin", {})

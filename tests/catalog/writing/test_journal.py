"""Journal of decisions, and catalogs whose decisions it keeps."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database import connection as database_connection
from catalog.database import schema_version
from catalog.model.errors import CatalogUnusable
from catalog.writing.journal import Decisions, Journal, Pin, Review
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted

PIN = Pin("a", "20261120-120000", "sha256:1")
REVIEW = Review("sha256:1", "approved", "ann", "2026-11-20T12:00:00.000+00:00", None, "20261120-1")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Return a journal without a file."""
    return Journal(tmp_path / "decisions.jsonl")


def test_it_returns_the_decisions_in_force(journal: Journal) -> None:
    """Pins and preferences that ended are gone; each review stays, once."""
    first = Decisions({("/r", "a"): PIN, ("/r", "b"): PIN}, {("/r", "c"): "t"}, [REVIEW])
    journal.update(first, NOON)
    assert journal.decisions() == first
    second = Decisions({("/r", "a"): PIN._replace(version="20261121-120000")}, {}, [REVIEW])
    journal.update(second, NOON)
    assert journal.decisions() == second


def test_it_is_only_added_to(journal: Journal, tmp_path: Path) -> None:
    """The same decisions add nothing; a confirmed removal adds a line that changes none."""
    decided = Decisions({("/r", "a"): PIN}, {}, [])
    journal.update(decided, NOON)
    before = (tmp_path / "decisions.jsonl").read_bytes()
    journal.update(decided, NOON)
    assert (tmp_path / "decisions.jsonl").read_bytes() == before
    journal.note_accepted_removals("/r", NOON)
    assert (tmp_path / "decisions.jsonl").read_bytes().startswith(before)
    assert journal.decisions() == decided


@pytest.mark.parametrize("torn", [b'{"decision":"pin","ro', b"[1]", b'{"decision":"pin"}', b"\xff"])
def test_a_line_that_cannot_be_read_costs_no_other(
    journal: Journal, tmp_path: Path, torn: bytes
) -> None:
    """A crash may have left half a line; what is added later stands on a line of its own."""
    journal.update(Decisions({("/r", "a"): PIN}, {}, []), NOON)
    with (tmp_path / "decisions.jsonl").open("ab") as file:
        file.write(torn)
    both = Decisions({("/r", "a"): PIN, ("/r", "b"): PIN}, {}, [])
    journal.update(both, NOON)
    assert journal.decisions() == both


def test_a_link_in_its_place_is_not_followed(journal: Journal, tmp_path: Path) -> None:
    """Nothing of others is written."""
    other = tmp_path / "other"
    other.write_text("theirs")
    (tmp_path / "decisions.jsonl").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        journal.update(Decisions({("/r", "a"): PIN}, {}, []), NOON)
    assert other.read_text() == "theirs"


def unreleased(path: Path) -> None:
    """Make a catalog with the migrations of before the first release, a pin and a review."""
    store = rooted(Store.open(path))
    store.apply([judged("a")], trigger="command", at=NOON)
    store.db.execute("UPDATE skills SET pinned_version_id = current_version_id")
    store.db.execute(
        "INSERT INTO reviews (digest, decision, decided_by, decided_at, version)"
        " VALUES ('sha256:1', 'approved', 'ann', '2026-11-20', '20261120-120000')"
    )
    store.db.execute("UPDATE _sqlite_migrations SET name = 'm001_schema'")
    store.close()
    path.with_name("decisions.jsonl").unlink(missing_ok=True)


def test_an_unreleased_catalog_is_put_aside_with_its_decisions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One sentence says so; the old file stays whole under another name."""
    path = tmp_path / "catalog.db"
    unreleased(path)
    store = Store.open(path, NOON)
    assert (
        store.decisions.are_lost,
        store.db.execute("SELECT count(*) FROM skills").fetchone(),
    ) == (
        True,
        (0,),
    )
    store.close()
    aside = tmp_path / "catalog.db.old-20261120-120000"
    assert f"made by an unreleased version; it is kept as {aside}" in caplog.text
    with closing(sqlite3.connect(aside)) as db:
        assert db.execute("SELECT skill_id FROM skills").fetchall() == [("a",)]
    decisions = Journal(tmp_path / "decisions.jsonl").decisions()
    assert list(decisions.pins) == [("/root", "a")]
    assert [review.decided_by for review in decisions.reviews] == ["ann"]
    lines = (tmp_path / "decisions.jsonl").read_text().split("\n")
    assert all(json.loads(line)["at"] for line in lines if line)


def test_a_reader_names_the_commands_that_replace_an_unreleased_catalog(tmp_path: Path) -> None:
    """It changes nothing."""
    path = tmp_path / "catalog.db"
    unreleased(path)
    before = path.read_bytes()
    with pytest.raises(CatalogUnusable, match=r"unreleased version .* `skilldrop scan`"):
        database_connection.open_catalog(path)
    assert path.read_bytes() == before
    assert schema_version.MIGRATIONS[0] == "m001_catalog"

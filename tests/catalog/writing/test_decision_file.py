"""Tests of the file of decisions."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database import connection
from catalog.database import connection as database_connection
from catalog.model.errors import CatalogUnusable
from catalog.writing import decision_file
from catalog.writing.decision_file import Decisions, Pin, Review
from catalog.writing.packages.inspection import PackagesListing
from catalog.writing.store import Store
from tests.support.damaged_pages import overwrite, pages_of, rows
from tests.support.program import run
from tests.support.records import NOON, judged, rooted
from tests.support.skills import write_skill

PIN = Pin("a", "20261120-120000", "sha256:1")
REVIEW = Review("sha256:1", "approved", "ann", "2026-11-20T12:00:00.000+00:00", None, "20261120-1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a file that does not exist yet."""
    return tmp_path / "decisions.json"


def test_it_returns_the_decisions_in_force(file: Path) -> None:
    """Pins and preferences that ended are gone; each review stays, once."""
    first = Decisions({("/r", "a"): PIN, ("/r", "b"): PIN}, {("/r", "c"): "t"}, [REVIEW])
    decision_file.update(file, first)
    assert decision_file.decisions(file) == first
    second = Decisions({("/r", "a"): PIN._replace(version="20261121-120000")}, {}, [REVIEW])
    decision_file.update(file, second)
    assert decision_file.decisions(file) == second


def test_the_same_decisions_change_nothing(file: Path) -> None:
    """The file is written for other decisions only."""
    decided = Decisions({("/r", "a"): PIN}, {}, [REVIEW])
    decision_file.update(file, decided)
    before = file.stat()
    decision_file.update(file, decided)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    decision_file.update(file, Decisions())
    assert decision_file.decisions(file) == Decisions({}, {}, [REVIEW])


def test_a_decision_on_an_unknown_place_stays_in_force(file: Path) -> None:
    """The root of its skill may be missing when a lost catalog is made again."""
    decided = Decisions({("/r", "a"): PIN, ("/r", "b"): PIN}, {("/r", "c"): "t"}, [])
    decision_file.update(file, decided)
    decision_file.update(file, Decisions(), is_known=lambda place: place == ("/r", "b"))
    assert decision_file.decisions(file) == Decisions({("/r", "a"): PIN}, {("/r", "c"): "t"}, [])


def test_a_file_that_cannot_be_read_is_kept_and_reported(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing one is as good as an empty one."""
    assert decision_file.decisions(file) == Decisions()
    assert not caplog.text
    for content in (b'{"pins": [', b"[1]", b'{"pins": []}', b"\xff"):
        caplog.clear()
        file.write_bytes(content)
        assert decision_file.decisions(file) == Decisions()
        assert f"The decisions in {file} cannot be taken over" in caplog.text
        kept = file.with_name("decisions.json.unreadable")
        assert kept.read_bytes() == content
    assert not file.exists()
    file.mkdir()
    caplog.clear()
    assert decision_file.decisions(file) == Decisions()
    assert f"The decisions in {file} cannot be taken over" in caplog.text


def test_a_link_in_its_place_is_not_followed(file: Path, tmp_path: Path) -> None:
    """Nothing of others is written."""
    other = tmp_path / "other"
    other.write_text("theirs")
    file.symlink_to(other)
    decision_file.update(file, Decisions({("/r", "a"): PIN}, {}, []))
    assert other.read_text() == "theirs"
    assert not file.is_symlink()


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
    path.with_name("decisions.json").unlink(missing_ok=True)


def test_an_unreleased_catalog_is_put_aside_with_its_decisions(
    tmp_path: Path,
) -> None:
    """The old file stays whole under another name."""
    path = tmp_path / "catalog.db"
    unreleased(path)
    store = Store.open(path, NOON)
    assert store.db.execute("SELECT count(*) FROM skills").fetchone() == (0,)
    aside = tmp_path / "catalog.db.old-20261120-120000"
    lost = store.takeover.begin(PackagesListing(), NOON, has_decisions=True)
    assert lost == f"was made by an unreleased version and is kept as {aside}"
    store.close()
    with closing(sqlite3.connect(aside)) as db:
        assert db.execute("SELECT skill_id FROM skills").fetchall() == [("a",)]
    decisions = decision_file.decisions(tmp_path / "decisions.json")
    assert list(decisions.pins) == [("/root", "a")]
    assert [review.decided_by for review in decisions.reviews] == ["ann"]


def test_a_catalog_that_is_being_read_is_put_aside_with_its_log(tmp_path: Path) -> None:
    """A reader keeps the log from being copied into the file, so the log goes with it."""
    path = tmp_path / "catalog.db"
    unreleased(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        before = reader.execute("SELECT name FROM skills").fetchall()
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("UPDATE skills SET name = 'later'")
        Store.open(path, NOON).close()
        assert reader.execute("SELECT name FROM skills").fetchall() == before
    with closing(sqlite3.connect(tmp_path / "catalog.db.old-20261120-120000")) as db:
        assert db.execute("SELECT name FROM skills").fetchall() == [("later",)]


def test_a_reader_names_the_commands_that_replace_an_unreleased_catalog(tmp_path: Path) -> None:
    """It changes nothing."""
    path = tmp_path / "catalog.db"
    unreleased(path)
    before = path.read_bytes()
    with pytest.raises(CatalogUnusable, match=r"unreleased version .* `skilldrop scan`"):
        database_connection.open_catalog(path)
    assert path.read_bytes() == before
    assert connection.MIGRATIONS[0] == "m001_catalog"


CATALOG = Path("var/catalog.db")
STATES = "SELECT path, status, current_version_id IS NOT NULL FROM skills ORDER BY path"


@pytest.fixture(autouse=True)
def reviewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a catalog with an approved skill, a rejected one and one that waits."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    Path("skilldrop.toml").write_text('[[roots]]\npath = "watched"\nreview = "always"\n')
    for name in ("approved", "rejected", "waits"):
        write_skill(Path("watched", name))
    run("scan")
    run("review", "approve", "approved")
    run("review", "reject", "rejected", "--why", "No.")
    assert published() == ["approved"]


def published() -> list[str]:
    """Return the names of the skills that agents get."""
    return [path.name for path in sorted(Path("var/skills").iterdir()) if path.name[0] != "."]


def lose(_: str) -> None:
    """Delete the catalog."""
    for path in Path("var").glob("catalog.db*"):
        path.unlink()


def damage(table: str) -> None:
    """Fill the pages of a table with garbage."""
    overwrite(CATALOG, pages_of(CATALOG, table))


def lose_all(_: str) -> None:
    """Delete the catalog and the file of decisions."""
    lose("")
    Path("var/decisions.json").unlink()


@pytest.mark.parametrize(
    ("mishap", "table", "kept"),
    [
        (lose_all, "", []),
        (lose, "", ["approved"]),
        (damage, "reviews", ["approved"]),
        (damage, "versions", ["approved"]),
        (damage, "skills", ["approved"]),
        (damage, "roots", ["approved"]),
    ],
)
def test_nothing_is_published_without_a_decision_that_was_kept(
    mishap: Callable[[str], None], table: str, kept: list[str]
) -> None:
    """Lost approvals make a skill wait again; what was kept of them counts, by its content."""
    mishap(table)
    assert run("scan").returncode == 0
    assert published() == kept
    states = {path: status for path, status, _ in rows(CATALOG, STATES)}
    lost = {"approved": "pending", "rejected": "pending"}
    known = {"approved": "active", "rejected": "rejected"}
    assert states == (known if kept else lost) | {"waits": "pending"}
    assert run("reconcile", "--check").returncode == 0


@pytest.mark.parametrize("mishap", [lose, lambda _: damage("reviews")])
def test_decisions_from_the_file_are_told(
    mishap: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    """The log says how many were taken over."""
    mishap("")
    run("scan")
    assert caplog.text.count("2 reviews, 0 pins, 0 preferences and 0 directories") == 1


def test_a_pin_outlives_the_catalog() -> None:
    """Agents still get the pinned version, whatever the folder has, and it can be unpinned."""
    run("review", "approve", "waits")
    write_skill(Path("watched", "approved"), description="Does other work.")
    run("scan")
    run("review", "approve", "approved")
    ((first,), (second,)) = rows(
        CATALOG, "SELECT version FROM versions WHERE skill_id = 'approved' ORDER BY id"
    )
    run("pin", "approved", first)
    before = Path("var/skills/approved/SKILL.md").read_bytes()
    lose("")
    assert run("scan").returncode == 0
    pinned = (
        "SELECT v.version, v.package_path FROM skills AS s"
        " JOIN versions AS v ON v.id = s.pinned_version_id WHERE s.skill_id = 'approved'"
    )
    assert rows(CATALOG, pinned) == [(first, f"approved/{first}")]
    assert Path("var/skills/approved/SKILL.md").read_bytes() == before
    assert run("reconcile", "--check").returncode == 0
    assert run("unpin", "approved").returncode == 0
    assert Path("var/skills/approved/SKILL.md").read_bytes() != before
    assert second


def test_a_preference_outlives_the_catalog() -> None:
    """The preferred folder of two keeps the name."""
    run("review", "approve", "waits")
    for folder in ("a", "b"):
        write_skill(Path("watched", folder, "same"), description=f"Lies in {folder}.")
    run("scan")
    for folder in ("a", "b"):
        run("review", "approve", f"watched/{folder}/same")
    run("prefer", "watched/b/same")
    winner = "SELECT path FROM skills WHERE skill_id = 'same' AND status = 'active'"
    assert rows(CATALOG, winner) == [("b/same",)]
    lose("")
    assert run("scan").returncode == 0
    assert rows(CATALOG, winner) == [("b/same",)]
    assert run("reconcile", "--check").returncode == 0


BACKUP, DECISIONS = Path("backup.db"), Path("var/decisions.json")


def restore() -> None:
    """Put the backup in the place of the catalog."""
    lose("")
    shutil.copy(BACKUP, CATALOG)


def test_a_restored_catalog_follows_the_newest_review(caplog: pytest.LogCaptureFixture) -> None:
    """A skill that was rejected after the backup is not published again, and one line says so."""
    shutil.copy(CATALOG, BACKUP)
    run("review", "reject", "approved", "--why", "Evil.")
    run("review", "approve", "rejected")
    restore()
    assert run("scan").returncode == 0
    assert published() == ["rejected"]
    assert "made again" not in caplog.text
    assert caplog.text.count("the catalog follows 2 newer decisions in ") == 1
    assert run("reconcile", "--check").returncode == 0
    before = DECISIONS.read_bytes()
    run("scan")
    assert caplog.text.count("newer decisions") == 1
    assert DECISIONS.read_bytes() == before


def in_force() -> list[tuple[object, ...]]:
    """Return the pins, the preferences and the directories of links in the catalog."""
    return rows(
        CATALOG,
        "SELECT path, pinned_version_id, preferred_at FROM skills"
        " WHERE pinned_version_id > 0 OR preferred_at > '' UNION ALL"
        " SELECT path, origin, filter FROM linked_directories WHERE origin = 'command' ORDER BY 1",
    )


def decide_otherwise() -> Callable[[], object]:
    """Make decisions, and return a function that makes others."""
    for folder in ("a", "b"):
        write_skill(Path("watched", folder, "same"), description=f"Lies in {folder}.")
    run("scan")
    for skill in ("waits", "watched/a/same", "watched/b/same"):
        run("review", "approve", skill)
    versions = dict(rows(CATALOG, "SELECT skill_id, version FROM versions"))
    run("prefer", "watched/b/same")
    run("pin", "approved", versions["approved"])
    run("link", "left", "--only", "waits")
    run("link", "changed", "--only", "waits")

    def others() -> None:
        run("prefer", "watched/a/same")
        run("unpin", "approved")
        run("pin", "waits", versions["waits"])
        run("unlink", "left")
        run("link", "changed", "--only", "waits", "--only", "approved")
        run("link", "new", "--only", "approved")

    return others


def test_a_restored_catalog_follows_all_newer_decisions() -> None:
    """Those that ended since the backup end, the others are in force."""
    others = decide_otherwise()
    shutil.copy(CATALOG, BACKUP)
    others()
    expected, skills = in_force(), Path("var/skills/same/SKILL.md").read_bytes()
    assert len(expected) == 4
    restore()
    assert in_force() != expected
    assert run("scan").returncode == 0
    assert in_force() == expected
    assert Path("var/skills/same/SKILL.md").read_bytes() == skills
    assert len(list(Path("changed").iterdir())) == 2
    assert not any(Path("left").iterdir())
    assert run("reconcile", "--check").returncode == 0


def test_a_restored_file_of_decisions_follows_the_catalog(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The older decisions in it change nothing."""
    others = decide_otherwise()
    shutil.copy(DECISIONS, BACKUP)
    others()
    expected, decisions = in_force(), decision_file.decisions(DECISIONS)
    shutil.copy(BACKUP, DECISIONS)
    run("scan")
    assert in_force() == expected
    assert decision_file.decisions(DECISIONS) == decisions
    assert "newer decisions" not in caplog.text


def test_a_pin_at_a_version_that_the_backup_lacks_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The skill then follows its folder."""
    shutil.copy(CATALOG, BACKUP)
    write_skill(Path("watched", "approved"), description="Does other work.")
    run("scan")
    run("review", "approve", "approved")
    ((version,),) = rows(CATALOG, "SELECT max(version) FROM versions WHERE skill_id = 'approved'")
    run("pin", "approved", version)
    restore()
    assert run("scan").returncode == 0
    assert "published 1 skill again" in caplog.text
    assert f"is lost: 'approved' has no version '{version}'" in caplog.text
    assert "Does other work." in Path("var/skills/approved/SKILL.md").read_text()

"""Sketches in the catalog, and the resemblance that shadowed skills tell."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database.connection import connect_to_read
from catalog.text.sketch import sketch
from pipeline.config.settings import Settings
from pipeline.sync import reconcile
from pipeline.sync.engines.processes import serial
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import scan_once
from tests.support.bodies import edited, made_body
from tests.support.packages import World, audits, later
from tests.support.skills import SkillWriter

BODY = made_body(1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty root with its catalog."""
    made = World(tmp_path)
    yield made
    made.store.close()


def resemblance(world: World) -> str:
    """Return how the shadowed skill resembles the winner, as its reason says."""
    ((reason,),) = world.rows("SELECT status_reason FROM skills WHERE path = 'deep/er/pdf'")
    before = f"shadowed by the project skill in {world.root}/pdf, less deep in the root, with "
    assert str(reason).startswith(before)
    return str(reason).removeprefix(before)


def test_the_reason_follows_both_skills(world: World, skill: SkillWriter) -> None:
    """Same, similar and other content are told apart, whichever of the two changes."""
    skill(world.root / "pdf", body=BODY)
    skill(world.root / "deep/er/pdf", body=BODY)
    world.scan()
    assert resemblance(world) == "the same content"
    skill(world.root / "pdf", body=edited(BODY, 0.1))
    world.scan()
    assert resemblance(world).startswith("similar content (")
    skill(world.root / "deep/er/pdf", body=made_body(2))
    world.scan()
    assert resemblance(world) == "other content"
    skill(world.root / "deep/er/pdf", body=edited(BODY, 0.1))
    world.scan()
    assert resemblance(world) == "the same content"
    skill(world.root / "deep/er/pdf", body=edited(BODY, 0.1), description="Another.")
    world.scan()
    assert resemblance(world) == "similar content (99 %)"
    assert audits(world) == []


def test_an_edit_of_the_winner_is_no_event_of_the_others(world: World, skill: SkillWriter) -> None:
    """The reason changes, and neither the history nor the last change of the shadowed skill."""
    skill(world.root / "pdf", body=BODY)
    skill(world.root / "deep/er/pdf", body=BODY)
    world.scan()
    events = (
        "SELECT i.outcome FROM ingestions AS i JOIN skills AS s ON s.id = i.skill"
        " WHERE s.path = 'deep/er/pdf'"
    )
    changed = "SELECT last_changed FROM skills WHERE path = 'deep/er/pdf'"
    before = world.rows(events), world.rows(changed)
    skill(world.root / "pdf", body=made_body(2))
    world.scan()
    assert resemblance(world) == "other content"
    assert (world.rows(events), world.rows(changed)) == before


def test_a_pinned_winner_is_compared_by_its_published_content(
    world: World, skill: SkillWriter
) -> None:
    """A rollback changes the reason of the shadowed skill, and so does its end."""
    skill(world.root / "pdf", body=BODY)
    skill(world.root / "deep/er/pdf", body=BODY)
    world.scan()
    ((first,),) = world.rows(
        "SELECT version FROM versions AS v JOIN skills AS s"
        " ON s.current_version_id = v.id WHERE s.path = 'pdf'"
    )
    skill(world.root / "pdf", body=made_body(2))
    world.scan()
    assert resemblance(world) == "other content"
    world.store.pin("pdf", str(first), later(1))
    assert resemblance(world) == "the same content"
    world.restart()
    assert resemblance(world) == "the same content"
    world.store.unpin("pdf", later(2))
    assert resemblance(world) == "other content"


def test_an_outdated_reason_is_found_and_a_restart_corrects_it(
    world: World, skill: SkillWriter
) -> None:
    """The audit compares the contents again."""
    skill(world.root / "pdf", body=BODY)
    skill(world.root / "deep/er/pdf", body=BODY)
    world.scan()
    world.store.db.execute(
        "UPDATE skills SET status_reason = replace(status_reason, 'the same', 'other')"
        " WHERE status = 'shadowed'"
    )
    ((difference),) = audits(world)
    assert (difference.path, difference.message) == ("deep/er/pdf", "its status_reason is outdated")
    world.restart()
    assert resemblance(world) == "the same content"
    assert audits(world) == []


def test_deleted_content_leaves_no_sketch(world: World, skill: SkillWriter) -> None:
    """A sketch betrays what a text was like, so it is deleted with the text."""
    skill(world.root / "pdf", body=BODY)
    world.scan()
    assert world.rows("SELECT count(*) FROM sketch_buckets") == [(6,)]
    (world.root / "pdf").rename(world.folder / "outside")
    (world.root / "pdf").symlink_to(world.folder / "outside")
    world.scan()
    assert world.rows("SELECT count(*) FROM sketch_buckets") == [(0,)]
    assert world.rows("SELECT count(*) FROM body_sketches") == [(0,)]


@pytest.fixture
def settings(tmp_path: Path, skill: SkillWriter) -> Settings:
    """Return the settings of a scanned root with two similar skills of one name."""
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=0.0)
    skill(settings.watched / "pdf", body=BODY)
    skill(settings.watched / "deep/er/pdf", body=edited(BODY, 0.1))
    with closing(open_store(settings)) as store:
        scan_once(settings, store, engine=serial)
    return settings


def contents(settings: Settings) -> list[tuple[object, ...]]:
    """Return the sketches and reasons in a catalog."""
    with closing(sqlite3.connect(settings.catalog_path)) as db:
        return [
            *db.execute("SELECT sketch FROM body_sketches ORDER BY version"),
            *db.execute("SELECT bucket FROM sketch_buckets ORDER BY bucket"),
            *db.execute("SELECT status_reason FROM skills ORDER BY path"),
        ]


def as_before_sketches(catalog: Path) -> None:
    """Take a catalog back to the tables of the first migration."""
    with closing(sqlite3.connect(catalog)) as db:
        db.executescript(
            "DROP TABLE sketch_buckets; DROP TABLE body_sketches;"
            "DROP INDEX skills_present_by_version;"
            "DELETE FROM _sqlite_migrations WHERE name = 'm002_similarity';"
            "UPDATE skills SET status_reason = 'shadowed by another' WHERE status = 'shadowed'"
        )


def damaged(catalog: Path) -> None:
    """Damage the header of a catalog."""
    with catalog.open("r+b") as file:
        file.write(b"damaged")


@pytest.mark.parametrize("change", [as_before_sketches, damaged])
def test_the_next_start_compares_stored_versions(settings: Settings, change: object) -> None:
    """After an upgrade and after a recovery, every version has its sketch again, without a scan."""
    before = contents(settings)
    assert (
        str(before[-2][0])[:11],
        str(before[-2][0]).rpartition("with ")[2][:17],
    ) == ("shadowed by", "similar content (")
    assert callable(change)
    change(settings.catalog_path)
    shutil.rmtree(settings.watched / "pdf")  # the versions in the catalog have their text
    open_store(settings).close()
    assert contents(settings) == before
    with closing(connect_to_read(settings.catalog_path)) as db:
        for text, stored in db.execute(
            "SELECT skill_md_content, sketch FROM version_contents AS v"
            " JOIN body_sketches AS k ON k.version = v.id"
        ):
            assert stored == sketch(text.partition("\n---\n")[2])


def test_a_quiet_folder_has_no_differences(settings: Settings) -> None:
    """Also after the winner changed."""
    before = contents(settings)
    body = settings.watched / "pdf/SKILL.md"
    body.write_text(body.read_text().replace(BODY, edited(BODY, 0.2)))
    with closing(open_store(settings)) as store:
        scan_once(settings, store, engine=serial)
    assert contents(settings) != before
    assert reconcile.compare_once(settings, engine=serial).differences == ()

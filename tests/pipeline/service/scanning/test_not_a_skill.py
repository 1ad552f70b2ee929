"""Entries for what lies in a root and is part of no skill: when they appear, and when they go."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from catalog.database import connection
from catalog.reading import status
from pipeline.cli.commands import status as output
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import compare
from pipeline.watch.settling import WatchUnit
from tests.support.kept_catalogs import Kept
from tests.support.scanning import scan_units
from tests.support.serving import Serving
from tests.support.skills import write_skill


class Listed(Kept):
    """Catalog of a root, with its entries for what is no skill."""

    def scan(self) -> None:
        """Bring the catalog up to the root, and see that it equals it."""
        super().scan()
        assert not self.compare().differences

    def entries(self) -> dict[str, str]:
        """Return the codes of the entries, by path."""
        state = status.load(connection.open_catalog(self.settings.catalog_path))
        return {row["path"]: row["code"] for row in state["not_skills"]}


@pytest.fixture
def kept(tmp_path: Path) -> Listed:
    """Return a catalog without skills."""
    return Listed(tmp_path)


def test_what_is_no_skill_is_in_status_with_what_to_do(kept: Listed) -> None:
    """Each entry names its path, the cause and the advice."""
    write_skill(kept.root / "good")
    (kept.root / "other").mkdir()
    (kept.root / "other/SKILL.MD.txt").write_text("x")
    kept.scan()
    text = output.report(status.load(connection.open_catalog(kept.settings.catalog_path)))
    assert "other/SKILL.MD.txt  skill-md-misnamed “SKILL.MD.txt” is not read; did you mean" in text
    assert "Rename it to SKILL.md." in text


def test_an_entry_goes_with_its_cause(kept: Listed) -> None:
    """A SKILL.md, a removal or a .skillignore ends it."""
    for name in ("a", "b", "c"):
        (kept.root / name).mkdir()
        (kept.root / name / "notes.md").write_text("x")
    kept.scan()
    assert kept.entries() == dict.fromkeys("abc", "folder-without-skill")
    write_skill(kept.root / "a")
    shutil.rmtree(kept.root / "b")
    (kept.root / ".skillignore").write_text("c\n")
    kept.scan()
    assert kept.entries() == {}


def test_a_comparison_tells_a_lost_entry(kept: Listed) -> None:
    """Rows that somebody deleted are a difference."""
    (kept.root / "empty").mkdir()
    kept.scan()
    with sqlite3.connect(kept.settings.catalog_path) as db:
        db.execute("DELETE FROM findings")
    assert len(compare(kept.settings).differences) == 1


def test_what_still_settles_is_not_told_yet(kept: Listed) -> None:
    """A folder may be in the middle of a copy, with its SKILL.md to come."""
    (kept.root / "copied").mkdir()
    (kept.root / "copied/a.md").write_text("x")
    store = open_store(kept.settings)
    settling = [WatchUnit(str(kept.root), "copied")]
    for still_settling, expected in ((settling, {}), ([], {"copied": "folder-without-skill"})):
        scan_units(store, kept.settings.root_specs, "", still_settling=still_settling)
        assert kept.entries() == expected
    store.close()


def test_a_service_follows_events_of_what_is_no_skill(tmp_path: Path) -> None:
    """Entries and left-out files come and go without a full scan."""
    service = Serving(tmp_path).start()
    try:
        write_skill(service.root / "s", files={"a.log": "x"})
        (service.root / "notes.md").write_text("x")
        (service.root / "empty").mkdir()
        service.wait_for(lambda: told(service) == [("empty",), ("notes.md",)])
        (service.root / "s/x.tmp").write_text("x")  # a leftover, of which nothing else is heard
        service.wait_for(lambda: left_out(service) == [("x.tmp", "name")])
        (service.root / ".skillignore").write_text("*.log\n")
        service.wait_for(lambda: ("a.log", "ignore file") in left_out(service))
        (service.root / "s/x.tmp").unlink()
        (service.root / "notes.md").unlink()
        write_skill(service.root / "empty")
        service.wait_for(lambda: not told(service))
        service.wait_for(lambda: left_out(service) == [("a.log", "ignore file")])
    finally:
        service.stop()
    assert not compare(service.settings).differences


def told(service: Serving) -> list[tuple[object, ...]]:
    """Return the paths that are part of no skill."""
    return service.rows("SELECT folder FROM findings WHERE skill IS NULL ORDER BY folder")


def left_out(service: Serving) -> list[tuple[object, ...]]:
    """Return the left-out files with their reasons."""
    return service.rows("SELECT path, reason FROM left_out_files ORDER BY path")

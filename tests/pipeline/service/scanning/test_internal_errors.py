"""Mistakes of skilldrop in one folder of many, at each stage from the walk to the index."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.model.errors import CatalogUnusable
from catalog.prompt_index import builder, query
from catalog.reading import service_health
from catalog.writing.links.directory import Entries
from catalog.writing.packages.builder import Packages
from catalog.writing.rows import batch
from pipeline.parsing import document
from pipeline.roots.archives import reader as archives_reader
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.walk import _Walk
from pipeline.roots.source import Source
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import Result, scan_once
from pipeline.service.scanning.engines import serial
from pipeline.validation import verdict
from tests.support.made_archives import pack_zip
from tests.support.scanning import scan_units
from tests.support.shelf import Shelf
from tests.support.skills import write_skill

CURSED = "s25"
STAGES: dict[str, tuple[object, str]] = {
    "walk": (_Walk, "_build"),
    "read": (Source, "_read"),
    "parse": (document, "parse"),
    "rules": (verdict, "assess"),
    "rows": (batch, "accept"),
    "packages": (Packages, "stage"),
}
"""A function of each stage, whose arguments name the folder that it works on."""


def stumble(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    """Let a function fail over the folder CURSED."""
    work: Callable[..., Any] = getattr(owner, name)

    def stumbling(*given: Any, **named: Any) -> Any:
        if CURSED in repr(given[:3]):
            raise KeyError("spell")
        return work(*given, **named)

    monkeypatch.setattr(owner, name, stumbling)


@pytest.mark.parametrize("stage", STAGES)
def test_a_mistake_in_one_folder_of_fifty_stays_in_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    stage: str,
) -> None:
    """All others follow; it has a finding, its last version, and a traceback in the log."""
    shelf = Shelf(tmp_path)
    for number in range(50):
        write_skill(shelf.root / f"s{number:02}", description="Counts the words of a text.")
    shelf.scan()
    for number in range(50):
        write_skill(shelf.root / f"s{number:02}", description="Counts the lines of a text.")
    with monkeypatch.context() as patched:
        stumble(patched, *STAGES[stage])
        shelf.scan()
    read = {
        folder.name: (folder / "current/SKILL.md").read_text()
        for folder in shelf.packages.glob("s*")
    }
    assert len(read) == 50
    assert [name for name, text in read.items() if "words" in text] == [CURSED]
    found = shelf.db.execute(
        "SELECT folder, severity FROM findings WHERE code = 'internal-error'"
    ).fetchall()
    assert found == [(CURSED, "error")]
    assert "Traceback" in caplog.text
    assert "KeyError: 'spell'" in caplog.text
    write_skill(shelf.root / CURSED, description="Counts the letters of a text.")
    shelf.scan()
    assert "letters" in (shelf.packages / CURSED / "current/SKILL.md").read_text()
    assert not shelf.db.execute("SELECT 1 FROM findings WHERE code = 'internal-error'").fetchall()
    shelf.close()


def test_a_mistake_about_an_entry_of_an_index_leaves_only_that_skill_out(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """All others are in it, and the finding ends with the mistake."""
    index = shelf.settings.index_folder / "default.txt"
    with monkeypatch.context() as patched:
        stumble(patched, builder, "_described")
        scan(shelf)
        assert reconcile.compare(shelf.settings, engine=serial).differences == ()
    assert "later:" in index.read_text()
    assert CURSED not in index.read_text()
    assert statuses(shelf) == {CURSED: "active", "later": "active"}
    assert errors(shelf) == {CURSED: "internal-error-in-index"}
    assert service_health.load(shelf.db)["internal_errors"] == 1
    assert "KeyError: 'spell'" in caplog.text
    assert "Traceback" in caplog.text
    scan(shelf)
    assert not errors(shelf)
    assert f"{CURSED}:" in index.read_text()


def test_an_index_fails_as_a_whole_where_most_entries_do(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays as it was."""
    index = shelf.settings.index_folder / "default.txt"
    before = index.read_bytes()
    monkeypatch.setattr(query, "MOST_FAILED", 1)
    monkeypatch.setattr(builder, "_described", lambda *_: 1 / 0)
    with pytest.raises(builder.EntryFailed, match="ZeroDivisionError"):
        scan(shelf)
    assert index.read_bytes() == before


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a scanned root with the skill CURSED, and another one that is not scanned yet."""
    made = Shelf(tmp_path)
    write_skill(made.root / CURSED)
    made.scan()
    write_skill(made.root / "later")
    yield made
    made.close()


def scan(shelf: Shelf) -> Result:
    """Bring the catalog up to all of the root."""
    store = open_store(shelf.settings)
    try:
        return scan_once(shelf.settings, store, engine=serial)
    finally:
        store.close()


def statuses(shelf: Shelf) -> dict[str, str]:
    """Return the statuses of the skills, by folder."""
    return dict(shelf.db.execute("SELECT path, status FROM skills").fetchall())


def errors(shelf: Shelf) -> dict[str, str]:
    """Return the codes of the errors, by folder."""
    rows = shelf.db.execute("SELECT folder, code FROM findings WHERE severity = 'error'")
    return dict(rows.fetchall())


def test_a_mistake_in_one_removal_stops_no_other(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The skill stays until the removal succeeds."""
    scan(shelf)
    for name in (CURSED, "later"):
        (shelf.root / name).rename(shelf.root.parent / name)
    with monkeypatch.context() as patched:
        stumble(patched, batch, "_remove")
        assert scan(shelf).pending == ((str(shelf.root), CURSED),)
    assert statuses(shelf) == {CURSED: "active", "later": "removed"}
    assert "KeyError: 'spell'" in caplog.text
    scan(shelf)
    assert statuses(shelf) == {CURSED: "removed", "later": "removed"}


def test_a_mistake_on_the_way_to_a_folder_stays_in_it(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an event named the folder."""
    stumble(monkeypatch, _Walk, "reach")
    store = open_store(shelf.settings)
    scan_units(store, shelf.settings.root_specs, CURSED, "later")
    store.close()
    assert statuses(shelf) == {CURSED: "active", "later": "active"}
    assert errors(shelf) == {CURSED: "internal-error"}


def test_a_mistake_about_the_root_makes_it_unreadable(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing counts as removed, and the root has the trouble."""
    monkeypatch.setattr(RootDirectory, "listing", lambda *_: 1 / 0)
    (trouble,) = scan(shelf).report.troubles.values()
    assert "ZeroDivisionError" in trouble
    assert statuses(shelf) == {CURSED: "active"}


@pytest.mark.parametrize("name", ["opened_entries", "ArchiveTree"])
def test_a_mistake_in_an_archive_rejects_it(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """The last version of its skills stays."""
    archive = shelf.root / "x.zip"
    pack_zip(write_skill(tmp_path / "packed"), archive)
    scan(shelf)
    pack_zip(write_skill(tmp_path / "packed", body="New."), archive)
    monkeypatch.setattr(archives_reader, name, lambda *_: 1 / 0)
    scan(shelf)
    assert statuses(shelf) == dict.fromkeys((CURSED, "later", "x.zip!/packed"), "active")
    assert errors(shelf) == {"x.zip!/packed": "internal-error"}


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "I/O error"), sqlite3.OperationalError("disk I/O error")]
)
def test_an_error_of_the_disk_is_no_mistake(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The scan ends, and no folder gets a finding."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(batch, "accept", fail)
    with pytest.raises(CatalogUnusable):
        scan(shelf)
    assert not errors(shelf)


def test_a_mistake_about_the_folders_for_agents_rejects_no_skill(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The publication fails, and the next one places all."""
    with monkeypatch.context() as patched:
        stumble(patched, Entries, "put")
        write_skill(shelf.root / CURSED, description="Counts the letters of a text.")
        with pytest.raises(KeyError):
            scan(shelf)
    assert not errors(shelf)
    scan(shelf)
    assert "letters" in (shelf.settings.skills_folder / CURSED / "SKILL.md").read_text()

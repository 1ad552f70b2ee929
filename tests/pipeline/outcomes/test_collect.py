"""Collection of outcome files: each is stored once, and bad ones are listed."""

import json
import os
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest

from catalog.filesystem.ownership import MARKER
from catalog.writing.store import Store
from pipeline.outcomes import collect
from pipeline.outcomes.collect import OutcomeInbox, OutcomeReport, outcome_at, take_outcomes
from tests.support.records import NOON, judged, rooted

LATER = 3600 * 10**9
"""Nanoseconds after which every file of a test has been quiet long enough."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a catalog with one skill."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    store.apply([judged("meetings")], trigger="command", at=NOON)
    return store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the outcomes folder."""
    (tmp_path / "outcomes").mkdir()
    (tmp_path / "outcomes" / MARKER).touch()
    return tmp_path / "outcomes"


def drop(folder: Path, run: str = "run-1", skill_id: str = "meetings", **fields: Any) -> Path:
    """Write an outcome as a runtime would."""
    path = folder / skill_id / f"{run}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"output": "ok", "status": "success", **fields}), "utf-8")
    return path


def take(store: Store, folder: Path) -> OutcomeReport:
    """Collect all files, as if they had been quiet."""
    return take_outcomes(store, folder, quiet=1, now_ns=time.time_ns() + LATER)


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """Query the catalog."""
    return store.db.execute(sql).fetchall()


MEMORY_WRITE = {
    "ownerType": "user",
    "ownerId": "anna",
    "type": "fact",
    "importance": 2,
    "content": "Likes tea.",
}
STEP = {
    "stepId": "1",
    "stepName": "ask",
    "duration": 12.5,
    "timestamp": "2026-11-20T08:00:00Z",
    "output": {"n": 1},
}


@pytest.mark.requirement("own/outcome-linked")
def test_an_outcome_is_linked_to_the_skill_and_version_it_ran(store: Store, folder: Path) -> None:
    """A run without a version belongs to the current one."""
    drop(folder)
    assert take(store, folder).stored == ["meetings/run-1.json"]
    assert rows(
        store,
        "SELECT s.name, v.version, o.run_id, o.revision FROM outcomes AS o"
        " JOIN skills AS s ON s.id = o.skill JOIN versions AS v ON v.id = o.version",
    ) == [("meetings", "20261120-120000", "run-1", 1)]


@pytest.mark.requirement("apexbridge/outcome-rows", "apexbridge/step-fields")
def test_memory_writes_and_steps_are_rows(store: Store, folder: Path) -> None:
    """Their values keep their types; an output is stored as JSON."""
    drop(folder, memoryWrites=[MEMORY_WRITE], intermediateSteps=[STEP])
    take(store, folder)
    assert rows(store, "SELECT owner_id, importance, importance_declared FROM memory_writes") == [
        ("anna", 2, 2.0)
    ]
    assert rows(store, "SELECT step_name, duration, output, error FROM step_traces") == [
        ("ask", 12.5, '{"n":1}', None)
    ]


@pytest.mark.requirement("own/outcome-linked")
def test_the_version_that_a_file_names_is_what_it_ran(store: Store, folder: Path) -> None:
    """Also if it is no longer the current one; an unknown version is stored as written."""
    store.apply([judged("meetings", "Another one.")], trigger="command", at=NOON)
    drop(folder, "old", version="20261120-120000")
    drop(folder, "odd", version="1.0")
    take(store, folder)
    assert rows(
        store,
        "SELECT o.run_id, v.version, o.version_declared FROM outcomes AS o LEFT JOIN"
        " versions AS v ON v.id = o.version ORDER BY 1",
    ) == [("odd", None, "1.0"), ("old", "20261120-120000", "20261120-120000")]


@pytest.mark.requirement("own/outcome-once")
def test_a_run_is_stored_once_however_often_its_file_is_seen(store: Store, folder: Path) -> None:
    """A file that is touched or rewritten with the same bytes is unchanged."""
    path = drop(folder)
    take(store, folder)
    os.utime(path, (1, 1))
    drop(folder)
    assert take(store, folder) == OutcomeReport()
    assert rows(store, "SELECT count(*) FROM outcomes") == [(1,)]


@pytest.mark.requirement("own/outcome-revision")
def test_changed_content_is_a_new_revision(store: Store, folder: Path) -> None:
    """The older one stays, and is no longer the newest."""
    drop(folder, status="running")
    take(store, folder)
    drop(folder, status="success")
    assert take(store, folder).stored == ["meetings/run-1.json"]
    assert rows(store, "SELECT revision, status, is_newest FROM outcomes ORDER BY 1") == [
        (1, "running", 0),
        (2, "success", 1),
    ]


@pytest.mark.requirement("own/outcome-unknown-skill")
def test_an_unknown_skill_does_not_keep_an_outcome_out(store: Store, folder: Path) -> None:
    """It may have been removed since, or may not have arrived yet."""
    drop(folder, skill_id="nobody")
    assert take(store, folder).stored == ["nobody/run-1.json"]
    assert rows(store, "SELECT skill_id, skill, version FROM outcomes") == [("nobody", None, None)]


def test_a_known_file_is_not_opened(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stat signature is enough."""
    opened: list[object] = []
    really_open = os.open

    def recorded_open(path: Any, *rest: Any, **options: Any) -> int:
        opened.append(path)
        return really_open(path, *rest, **options)

    monkeypatch.setattr(os, "open", recorded_open)
    drop(folder)
    take(store, folder)
    assert opened.count("run-1.json") == 1
    assert take(store, folder) == OutcomeReport()
    assert opened.count("run-1.json") == 1


def test_a_file_that_changed_just_now_is_left_for_later(store: Store, folder: Path) -> None:
    """A runtime may still be writing it."""
    drop(folder)
    report = take_outcomes(store, folder, quiet=60, now_ns=time.time_ns())
    assert report == OutcomeReport(unsettled=["meetings/run-1.json"])


@pytest.mark.requirement("own/outcome-rejected")
def test_a_bad_file_is_listed_with_its_findings(store: Store, folder: Path) -> None:
    """It stays in place, and is reported once: until it changes, or is gone."""
    path = drop(folder)
    for content in (b'{"status":', b"{"):
        path.write_bytes(content)
        assert list(take(store, folder).rejected) == ["meetings/run-1.json"]
        assert take(store, folder) == OutcomeReport()
        assert path.read_bytes() == content
    assert rows(store, "SELECT path, findings ->> '$[0].code' FROM outcome_rejections") == [
        ("meetings/run-1.json", "outcome-not-json")
    ]
    path.write_text('{"output": 1}')
    assert take(store, folder).stored == ["meetings/run-1.json"]
    assert rows(store, "SELECT count(*) FROM outcome_rejections") == [(0,)]
    path.write_bytes(b"[]")
    assert take(store, folder).rejected
    path.unlink()
    take(store, folder)
    assert rows(store, "SELECT count(*) FROM outcome_rejections") == [(0,)]


def test_nothing_behind_a_link_is_read(store: Store, folder: Path, tmp_path: Path) -> None:
    """A file outside of the folder is no outcome, good or bad, and stays in place."""
    (tmp_path / "outside/below").mkdir(parents=True)
    for name in ("good.json", "below/bad.json"):
        (tmp_path / "outside" / name).write_text(json.dumps({"status": "success"}))
    (folder / "meetings").symlink_to(tmp_path / "outside")
    inbox = OutcomeInbox(folder, quiet=1, longest=300)
    for name in ("good.json", "below/bad.json"):
        assert inbox.hint(f"{folder}/meetings/{name}", now=10.0)
    assert inbox.take(store, 20.0, time.time_ns() + LATER) == OutcomeReport()
    assert (tmp_path / "outside/below/bad.json").is_file()
    assert rows(store, "SELECT count(*) FROM outcomes") == [(0,)]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a/huge.json", "outcome-too-large"),
        ("a/pipe.json", "outcome-unreadable"),
        ("a/link.json", "outcome-unreadable"),
    ],
)
def test_an_unusable_file_is_rejected_with_its_code(
    store: Store, folder: Path, path: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not followed, waited for or read completely."""
    monkeypatch.setattr(collect, "MOST_BYTES", 100)
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if "pipe" in path:
        os.mkfifo(place)
    elif "link" in path:
        place.symlink_to("/etc/hostname")
    else:
        place.write_text('{"status": "success"}' + " " * 200 * ("huge" in path))
    take(store, folder)
    assert rows(store, "SELECT findings ->> '$[0].code' FROM outcome_rejections") == [(code,)]


@pytest.mark.parametrize(
    "name",
    ["a/.hidden.json", "a/run.json.tmp", "a/run.txt", ".git/run.json"],
)
def test_other_files_are_ignored(store: Store, folder: Path, name: str) -> None:
    """Temporary names of a runtime, and those of other programs."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("no outcome")
    assert take(store, folder) == OutcomeReport()
    assert outcome_at(folder, f"{folder}/{name}") is None


def test_a_missing_folder_is_created(store: Store, tmp_path: Path) -> None:
    """It belongs to skilldrop then, so a runtime can fill it between two scans."""
    folder = tmp_path / "var/outcomes"
    assert take(store, folder) == OutcomeReport()
    (folder / "meetings").mkdir()
    drop(folder)
    assert take(store, folder).stored == ["meetings/run-1.json"]


@pytest.mark.requirement("own/outcome-dropped")
def test_the_inbox_collects_a_hinted_file_once_it_is_quiet(store: Store, folder: Path) -> None:
    """It ignores hints for other paths."""
    inbox = OutcomeInbox(folder, quiet=1, longest=300)
    path = drop(folder)
    assert inbox.hint(str(path), now=10.0)
    assert not inbox.hint(str(folder.parent / "elsewhere"), now=10.0)
    assert inbox.take(store, 10.5, time.time_ns()) == OutcomeReport()
    assert inbox.seconds_to_next(10.0) == 1
    assert inbox.take(store, 11.0, time.time_ns() + LATER).stored == ["meetings/run-1.json"]
    assert inbox.seconds_to_next(11.0) == inf


@pytest.mark.requirement("own/outcome-dropped")
def test_the_inbox_keeps_a_file_that_still_changes(store: Store, folder: Path) -> None:
    """It is never dropped."""
    inbox = OutcomeInbox(folder, quiet=60, longest=300)
    inbox.hint(str(drop(folder)), now=10.0)
    assert inbox.take(store, 71.0, time.time_ns()).unsettled == ["meetings/run-1.json"]
    assert inbox.seconds_to_next(71.0) == 60


@pytest.mark.parametrize("paths", [None, ["linked/run-1.json"]])
def test_a_linked_directory_is_not_entered(
    store: Store, folder: Path, tmp_path: Path, paths: list[str] | None
) -> None:
    """A file elsewhere is neither read nor moved, even if an event names it."""
    (tmp_path / "outside").mkdir()
    outside = drop(tmp_path, skill_id="outside")
    (folder / "linked").symlink_to(outside.parent)
    report = take_outcomes(store, folder, quiet=1, now_ns=time.time_ns() + LATER, paths=paths)
    assert report == OutcomeReport()
    assert rows(store, "SELECT * FROM outcomes") == []
    assert outside.exists()

"""Commands beside a running service."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.serving import Serving
from tests.support.skills import write_skill


@pytest.fixture
def words(tmp_path: Path) -> list[object]:
    """Return the options that name the root and the data of a service."""
    return ["--watched", tmp_path / "root", "--data", tmp_path / "data"]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Yield a service that notices nothing by itself for an hour."""
    running = Serving(tmp_path, follow="polling", poll_every=3600.0)
    write_skill(running.root / "one")
    running.start()
    yield running
    running.stop()


def test_scan_lets_the_service_scan(serving: Serving, words: list[object]) -> None:
    """It prints what has changed, as if it had scanned itself."""
    serving.wait_for(lambda: serving.rows("SELECT 1 FROM skills"))
    write_skill(serving.root / "two")
    done = run("scan", "--json", *words)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert (counts["seen"], counts["added"], counts["active"]) == (2, 1, 2)
    done = run("scan", "--deep", *words)
    assert "2 skill folders scanned" in done.stdout
    assert ": nothing changed." in done.stdout
    assert serving.rows("SELECT count(*) FROM versions") == [(2,)]
    deep = "SELECT json_extract(arguments, '$.deep') FROM requests ORDER BY id"
    assert serving.rows(deep) == [(0,), (1,)]


def test_commands_need_only_the_data_of_a_service(serving: Serving, tmp_path: Path) -> None:
    """The service knows its roots and settings; without it, the missing root is named."""
    serving.wait_for(lambda: serving.rows("SELECT 1 FROM skills WHERE status = 'active'"))
    agent = tmp_path / "agent"
    words = "--data", serving.settings.data
    assert run("link", agent, *words).stdout == f"Linked 1 skill in {agent}.\n"
    assert "1 skill folder scanned" in run("scan", *words).stdout
    serving.stop()
    said = run("unlink", agent, *words).stderr
    assert f"The root {tmp_path}/watched cannot be read: No such file or directory. " in said
    assert said.endswith(" another with --watched, or its settings with --config.\n")


def test_what_follows_a_change_in_a_root_is_said(
    serving: Serving, words: list[object], tmp_path: Path
) -> None:
    """A running service brings it to the agents; without one, a scan does."""
    write_skill(tmp_path / "drafts/two")
    write_skill(tmp_path / "drafts/three")
    serving.wait_for(lambda: serving.rows("SELECT 1 FROM skills WHERE status = 'active'"))
    assert "two. The running service publishes it; " in run("add", "drafts/two", *words).stdout
    removed = run("remove", "one", *words).stdout
    assert "The running service takes it out of the catalog. " in removed
    serving.stop()
    assert "three. `skilldrop --watched " in run("add", "drafts/three", *words).stdout


def test_a_second_up_says_that_the_first_runs(serving: Serving, words: list[object]) -> None:
    """It names the site of the first, if that has one."""
    done = run("up", *words)
    assert done.returncode == 2
    assert " up` runs here already. The catalog is being written by" in done.stderr
    with closing(sqlite3.connect(serving.settings.catalog_path)) as db, db:
        db.execute("UPDATE health SET site_host = '127.0.0.1', site_port = 8123")
    done = run("up", *words)
    assert " up` runs here already; its site is http://127.0.0.1:8123/. " in done.stderr


def test_the_check_of_a_well_service_fails_with_a_name_conflict(
    serving: Serving, words: list[object]
) -> None:
    """It passes without one."""
    serving.wait_for(lambda: serving.rows("SELECT 1 FROM skills"))
    assert run("status", "--check", *words).returncode == 0
    write_skill(serving.root / "two", name="one", body="Other.\n")
    run("scan", *words)
    assert run("status", "--check", *words).returncode == 1
    run("prefer", serving.root / "one", *words)
    assert run("status", "--check", *words).returncode == 0

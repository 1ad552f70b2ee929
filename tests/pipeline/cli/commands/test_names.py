"""Names of skills in commands: prefer, add and status."""

import json
import os
from pathlib import Path

import pytest

from catalog.database.lock import WriterLock
from tests.support.program import run
from tests.support.skills import write_skill


@pytest.fixture(autouse=True)
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill the catalog: an incumbent in `zzz`, and a rival in `csv-profile`."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    write_skill(Path("watched/zzz"), name="csv-profile")
    run("scan")
    write_skill(Path("watched/csv-profile"), body="Other.\n")
    run("scan")


def active() -> list[str]:
    """Return the folders of the active skills."""
    return [row["path"] for row in json.loads(run("list", "--json").stdout)]


@pytest.mark.parametrize(
    "path",
    ["watched/csv-profile/", "csv-profile", "watched/zzz/../csv-profile", "link/csv-profile"],
)
def test_prefer_takes_every_spelling_of_a_path(path: str) -> None:
    """Relative to the working directory or to the root, with `..`, and through links."""
    Path("link").symlink_to("watched")
    assert active() == ["zzz"]
    assert run("prefer", path).returncode == 0
    assert active() == ["csv-profile"]
    assert "no differences" in run("reconcile", "--check").stdout


def test_a_folder_whose_name_is_not_utf8_has_a_name_as_well() -> None:
    """No command fails with it: add, prefer and remove."""
    strange = os.fsdecode(b"caf\xe9")
    write_skill(Path("drafts") / strange, name="coffee")
    done = run("add", f"drafts/{strange}")
    assert (done.returncode, done.stderr) == (0, "")
    run("scan")
    assert "Agents get coffee from" in run("prefer", f"watched/{strange}").stdout
    assert "There is no skill" in run("prefer", f"watched/x{strange}").stderr
    assert json.loads(run("remove", "coffee", "--json").stdout)["path"].endswith("/caf\\xe9")


def test_prefer_finds_nothing_outside_the_roots() -> None:
    """Neither does scan."""
    write_skill(Path("private/secret"))
    for command in ("prefer", "scan"):
        done = run(command, "watched/../private/secret")
        assert (done.returncode, done.stdout) == (2, "")


def test_the_check_fails_until_a_conflict_is_settled() -> None:
    """Here for the incumbent; both folders stay in the catalog."""
    state = json.loads(run("status", "--json").stdout)
    assert [row["path"] for row in state["conflicts"]] == ["csv-profile"]
    assert "1 name conflict" in run("status", "--check").stdout
    run("prefer", "watched/zzz")
    assert json.loads(run("status", "--json").stdout)["conflicts"] == []
    assert "name conflict" not in run("status", "--check").stdout
    assert active() == ["zzz"]


def test_each_command_takes_a_name_a_bare_name_or_a_folder() -> None:
    """What waits is found as well; commands to copy have the full name."""
    write_skill(Path("teams/ann/reader"))
    write_skill(Path("teams/ben/writer"))
    table = '[[roots]]\npath = "teams"\nnamespace = "folder"\nreview = "always"\n'
    Path("skilldrop.toml").write_text(table)
    run("scan")
    assert "skilldrop review approve ann:reader --version" in run("review").stdout
    for asked in ("reader", "ann:reader", "teams/ann/reader", "ann/reader", "ann--reader"):
        for command in (("review", "approve"), ("show",), ("read",), ("versions",)):
            done = run(*command, asked)
            assert (done.returncode, done.stderr) == (0, "")
    assert "'nobody' has no version that needs a review. These wait: ben:writer" in (
        run("review", "approve", "nobody").stderr
    )


def test_add_says_that_a_name_is_taken() -> None:
    """It is copied all the same; one that it replaces is no rival."""
    write_skill(Path("drafts/mine"), name="csv-profile")
    said = run("add", "drafts/mine").stdout
    assert "/watched/zzz has the name csv-profile, too, and only one of the two" in said
    write_skill(Path("drafts/zzz"), name="csv-profile")
    assert "too" not in run("add", "drafts/zzz", "--replace").stdout


def test_commands_to_copy_have_the_options_that_were_given() -> None:
    """In results and in errors, before or after the command, and quoted for a shell."""
    Path("my settings.toml").write_text('data = "var"\n[[roots]]\npath = "watched"\n')
    options = "skilldrop --config 'my settings.toml'"
    assert f"`{options} up` starts it" in run("status", "--config", "my settings.toml").stdout
    Path("var/catalog.db").unlink()
    said = run("--config=my settings.toml", "show", "csv-profile").stderr
    assert "`skilldrop '--config=my settings.toml' scan`" in said


def test_a_catalog_that_is_being_built_is_not_called_missing() -> None:
    """While a service or a scan has its lock, another scan is no advice."""
    Path("var/catalog.db").unlink()
    lock = WriterLock(Path("var/catalog.db.lock"))
    assert "is being built; try again in a moment" in run("show", "csv-profile").stderr
    lock.close()
    assert "yet. Make one with" in run("show", "csv-profile").stderr


def test_add_needs_no_readable_catalog() -> None:
    """It then knows of no other skill with the name."""
    Path("var/catalog.db").write_bytes(b"This is no database." * 100)
    write_skill(Path("drafts/mine"), name="csv-profile")
    done = run("add", "drafts/mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Added" in done.stdout

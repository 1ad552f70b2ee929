"""Catalogs that are lost, or were written by an unreleased program, and what stays of them."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from catalog.writing.takeover import Takeover
from pipeline.service.scanning import lost_catalog
from tests.support import program
from tests.support.paths import REPOSITORY
from tests.support.skills import write_skill

OLDER = REPOSITORY / "tests/samples/older/decided.tgz"
"""Two roots and the data directory of a program before the first release.

`root` has reviews; `away` has a higher level and was missing at the last scan. Agents got `pinned`
at its first version, the last good version of `lastgood`, the approved second version of `rev`, the
preferred one of two `twin`, `kept` as it was before there were reviews, and `far` and `plain` of
`away`. The skill `gone` was removed.
"""
WRITTEN_IN = "/tmp/shared"
"""Folder of the sample when it was written: catalogs have absolute paths."""
GIVEN = ["far", "kept", "lastgood", "pinned", "plain", "rev", "twin"]


class Shared:
    """The sample, used by commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"

    def run(self, *words: object) -> CompletedProcess[str]:
        """Run a command to its end."""
        settings = self.folder / "skilldrop.toml"
        return program.run("--config", settings, *words, SKILLDROP_SETTLE_QUIET="0")

    def scan(self) -> str:
        """Scan and return the messages."""
        done = self.run("scan")
        assert done.returncode in (0, 1), done.stderr
        return done.stdout + done.stderr

    def given(self) -> dict[str, bytes]:
        """Return the SKILL.md of each skill that agents get, from both places."""
        found = {path.name: (path / "SKILL.md").read_bytes() for path in self.folders()}
        current = self.data.glob("packages/*/current/SKILL.md")
        assert found == {path.parts[-3]: path.read_bytes() for path in current}
        return found

    def folders(self) -> list[Path]:
        """Return the folders of published skills."""
        return [path for path in self.data.glob("skills/*") if path.name[0] != "."]

    def listed(self) -> list[str]:
        """Return the names in the index."""
        lines = (self.data / "index/default.txt").read_text().splitlines()[2:-1]
        return sorted(line.partition(":")[0] for line in lines if line)

    def status(self) -> dict[str, Any]:
        """Return the state of the catalog."""
        found: dict[str, Any] = json.loads(self.run("status", "--json").stdout)
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Query the catalog."""
        with closing(sqlite3.connect(self.data / "catalog.db")) as db:
            return db.execute(query).fetchall()

    def leave(self, root: str) -> None:
        """Take a root away."""
        (self.folder / root).rename(self.folder / f"{root}-elsewhere")

    def bring_back(self, root: str) -> None:
        """Bring a root back."""
        (self.folder / f"{root}-elsewhere").rename(self.folder / root)

    def lose(self) -> None:
        """Delete the catalog."""
        for path in self.data.glob("catalog.db*"):
            path.unlink()


@pytest.fixture
def older(tmp_path: Path) -> Shared:
    """Return the sample as the older program left it, with both roots."""
    subprocess.run(["tar", "xf", OLDER, "-C", tmp_path], check=True)
    with closing(sqlite3.connect(tmp_path / "data/catalog.db")) as db, db:
        for table, column in (("roots", "path"), ("skills", "root"), ("ingestions", "root")):
            moved = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
            db.execute(moved, [WRITTEN_IN, str(tmp_path)])
    return Shared(tmp_path)


def of_older_program(shared: Shared) -> None:
    """Leave the catalog of the older program."""


def deleted(shared: Shared) -> None:
    """Replace it by a present one, and delete that."""
    shared.scan()
    shared.lose()


LOSSES = [of_older_program, deleted]


@pytest.mark.parametrize("loss", LOSSES)
def test_what_agents_get_stays(
    older: Shared, loss: Callable[[Shared], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Pinned, approved, preferred and last good versions, and all skills of a missing root."""
    before = older.given()
    assert sorted(before) == GIVEN
    loss(older)
    older.leave("away")
    caplog.clear()
    older.scan()
    for _ in range(2):
        assert older.given() == before
        assert older.listed() == GIVEN
        assert older.rows("SELECT name FROM skills WHERE is_conflict") == []
        older.scan()
    taken = (
        "with 7 published skills, 0 older versions, 1 review, 1 pin, 1 preference and 0 directories"
        " of links taken over"
    )
    assert caplog.text.count("taken over") == caplog.text.count(taken) == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_all_is_as_before_once_the_roots_are_back(
    older: Shared, loss: Callable[[Shared], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Only then the packages that no skill needs are removed, and log and status say so."""
    before = older.given()
    loss(older)
    packages = set(older.data.glob("packages/*/2*"))
    older.leave("away")
    older.scan()
    assert packages <= set(older.data.glob("packages/*/2*"))
    assert "its other packages are kept" in older.run("status").stdout
    older.bring_back("away")
    older.scan()
    assert "packages that only the lost catalog knew" in caplog.text
    assert "packages that only the former catalog knew" in older.run("status").stdout
    assert older.given() == before
    assert (older.data / "packages/gone").exists() is False
    state = "SELECT skill_id FROM skills WHERE {} ORDER BY 1"
    assert older.rows(state.format("pinned_version_id IS NOT NULL")) == [("pinned",)]
    assert older.rows(state.format("newest_rejected_at IS NOT NULL")) == [("lastgood",)]
    assert older.rows(state.format("preferred_at IS NOT NULL")) == [("twin",)]
    assert older.rows(state.format("is_held OR is_conflict")) == []
    assert older.run("reconcile", "--check").returncode == 0


def test_accepted_removals_need_no_record(older: Shared) -> None:
    """Agents got nothing of such a skill, so nothing of it is taken over."""
    older.leave("away")
    older.scan()
    older.run("reconcile", "--accept-removals")
    older.scan()
    before = older.given()
    assert "far" not in before
    older.lose()
    older.scan()
    assert older.given() == before
    assert older.rows("SELECT skill_id FROM skills WHERE is_held") == []


def test_a_killed_takeover_goes_on(older: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start takes over the remaining packages."""
    before = older.given()
    take = Takeover.take
    calls: list[int] = []

    def killed(self: Takeover, *arguments: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return take(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(lost_catalog, "BATCH", 2)
        patch.setattr(Takeover, "take", killed)
        older.leave("away")
        assert older.run("scan").returncode == 130
    older.scan()
    assert older.given() == before
    assert older.listed() == GIVEN


@pytest.fixture
def plain(tmp_path: Path) -> Shared:
    """Return a root without reviews, with two skills of one name, scanned once."""
    (tmp_path / "skilldrop.toml").write_text('data = "data"\n[[roots]]\npath = "root"\n')
    write_skill(tmp_path / "root/z/same", description="Came first.")
    shared = Shared(tmp_path)
    shared.scan()
    write_skill(tmp_path / "root/a/same", description="Came later.")
    shared.scan()
    return shared


def test_the_published_one_of_two_skills_keeps_the_name(plain: Shared) -> None:
    """The other one would come first by its path."""
    before = plain.given()
    plain.lose()
    plain.scan()
    assert plain.given() == before
    assert plain.rows("SELECT path FROM skills WHERE status = 'active'") == [("z/same",)]


@pytest.mark.parametrize(("number", "stays"), [(19, False), (20, True)])
def test_many_skills_without_a_folder_stay_until_their_removal_is_accepted(
    plain: Shared, number: int, stays: bool
) -> None:
    """Their root may have been emptied while nobody looked; a few are removed at once."""
    for count in range(number):
        write_skill(plain.folder / f"root/many/s{count}")
    plain.scan()
    plain.lose()
    shutil.rmtree(plain.folder / "root/many")
    for _ in range(2):
        plain.scan()
        assert len(plain.given()) == 1 + number * stays
    plain.run("reconcile", "--accept-removals")
    assert len(plain.given()) == 1


def test_a_folder_that_changed_meanwhile_continues_its_skill(plain: Shared) -> None:
    """The version that agents got before is in its history."""
    shutil.rmtree(plain.folder / "root/a")
    plain.scan()
    plain.lose()
    write_skill(plain.folder / "root/z/same", description="Changed.")
    plain.scan()
    assert b"Changed." in plain.given()["same"]
    versions = "SELECT count(*) FROM versions AS v JOIN skills AS s ON s.id = v.skill WHERE s.path"
    assert plain.rows(f"{versions} = 'z/same'") == [(2,)]


def test_a_preference_still_settles_a_conflict(plain: Shared) -> None:
    """The other skill of the name counts as one that was there when a person chose."""
    plain.run("prefer", plain.folder / "root/a/same")
    before = plain.given()
    plain.lose()
    plain.scan()
    assert plain.given() == before
    assert plain.rows("SELECT path, is_conflict FROM skills ORDER BY path") == [
        ("a/same", 0),
        ("z/same", 0),
    ]


def linked(shared: Shared) -> dict[str, str]:
    """Return the bodies of the skills in both directories of `skilldrop link`, and of our own."""
    folders = [shared.folder / "copies", shared.folder / "links", shared.data / "skills"]
    return {
        f"{folder.name}/{path.parent.name}": path.read_text().splitlines()[-1]
        for folder in folders
        for path in sorted(folder.glob("*/SKILL.md"))
    }


def link(shared: Shared) -> None:
    """Give agents the skills as copies and as links."""
    shared.run("link", "--copy", shared.folder / "copies")
    shared.run("link", shared.folder / "links")


def test_a_deleted_catalog_loses_no_directory_of_links(
    plain: Shared, caplog: pytest.LogCaptureFixture
) -> None:
    """They are in the file of decisions; one that was unlinked does not come back."""
    link(plain)
    plain.run("link", plain.folder / "former")
    plain.run("unlink", plain.folder / "former")
    before = linked(plain)
    plain.lose()
    plain.scan()
    assert "and 2 directories of links taken over" in caplog.text
    assert linked(plain) == before
    write_skill(plain.folder / "root/z/same", body="Edited.")
    write_skill(plain.folder / "root/new", body="New.")
    plain.scan()
    assert {"copies/same", "copies/new", "links/new"} <= linked(plain).keys()
    assert linked(plain)["copies/same"] == linked(plain)["links/same"]
    assert not list((plain.folder / "former").iterdir())
    assert not [each for each in plain.status()["links"] if each["taken"] or each["foreign"]]


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_restored_backup_knows_the_copies_from_after_it(
    plain: Shared, is_edited: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Also those of skills that it does not have; elsewhere, a copy of another version stays."""
    link(plain)
    with closing(sqlite3.connect(plain.data / "catalog.db")) as db:
        db.execute("VACUUM INTO ?", [str(plain.folder / "backup.db")])
    write_skill(plain.folder / "root/new", body="New.")
    write_skill(plain.folder / "root/z/same", body="Edited.")
    plain.scan()
    (package,) = plain.data.glob("packages/new/2*")
    package.rename(package.with_name("20250101-000000"))  # else the next has the same name
    if is_edited:
        write_skill(plain.folder / "root/new", body="Newer.")
    plain.lose()
    (plain.folder / "backup.db").rename(plain.data / "catalog.db")
    caplog.clear()
    plain.scan()
    assert "was not made by skilldrop" not in caplog.text
    newest = "Newer." if is_edited else "New."
    assert linked(plain)["skills/new"] == linked(plain)["links/new"] == newest
    assert linked(plain)["copies/new"] == "New."
    assert ("copies/new is unknown to this catalog" in caplog.text) is is_edited

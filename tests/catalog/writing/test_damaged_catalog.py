"""Tests of damaged catalogs: what is put aside, and what a new one has."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from catalog.database.connection import connect
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import NotPossible
from catalog.reading.skills.versions import history
from pipeline.config.settings import Settings
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.requests import handle
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.damaged_pages import PAGE, overwrite, pages_of, rows
from tests.support.program import run
from tests.support.serving import Serving, ServingProcess
from tests.support.skills import SkillWriter, write_skill

SKILLS = 40


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Make a catalog of 40 skills with three versions each; one skill is pinned to its first."""
    folder = tmp_path_factory.mktemp("made")
    settings = Settings(watched=folder / "root", data=folder / "data", settle_quiet=0.0)
    for word in ("One", "Two", "Three"):
        for number in range(SKILLS):
            write_skill(
                settings.watched / f"s{number:02}",
                body=f"# {word}\n\n{'Text. ' * 800}\n",
                description=f"{word} of skill number {number}.",
            )
        with closing(open_store(settings)) as store:
            scan_once(settings, store, engine=serial)
            first = history(store.db, "s05")["versions"][-1]["version"]
    handle(settings, "pin", {"skill": "s05", "version": first})
    return settings


@pytest.fixture
def settings(made: Settings, tmp_path: Path) -> Settings:
    """Return a copy of that catalog to damage; the root is shared and only read."""
    shutil.copytree(made.data, tmp_path / "data", symlinks=True)
    return made.model_copy(update={"data": tmp_path / "data"})


def middle_of_versions(path: Path) -> None:
    """Damage two pages of versions and one of skills, as a disk might."""
    versions, skills = pages_of(path, "versions"), pages_of(path, "skills")
    overwrite(path, [*versions[len(versions) // 2 :][:2], skills[len(skills) // 2]])


def truncated(path: Path) -> None:
    """Cut the file in half."""
    os.truncate(path, path.stat().st_size // 2 // PAGE * PAGE)


def without_header(path: Path) -> None:
    """Overwrite the header of the file with zeros."""
    with path.open("r+b") as file:
        file.write(bytes(100))


def emptied(path: Path) -> None:
    """Truncate the file to no bytes."""
    os.truncate(path, 0)


def assert_whole(settings: Settings) -> None:
    """Assert that the catalog equals the folder, and the packages and the index equal it."""
    assert reconcile.compare(settings, engine=serial).differences == ()
    assert rows(settings.catalog_path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(settings.catalog_path, "PRAGMA foreign_key_check") == []
    assert rows(settings.catalog_path, "SELECT count(*) FROM skills WHERE status = 'active'") == [
        (SKILLS,)
    ]


def scan(settings: Settings) -> CompletedProcess[str]:
    """Run `skilldrop scan` to its end."""
    return run(
        "--watched", settings.watched, "--data", settings.data, "scan", SKILLDROP_SETTLE_QUIET="0"
    )


DAMAGES = [middle_of_versions, truncated, without_header, emptied]


PINNED = "SELECT v.version FROM skills AS s JOIN versions AS v ON v.id = s.pinned_version_id"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_catalog_is_rebuilt(
    settings: Settings, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """The damaged file is kept, the catalog matches the folder again, and both are reported."""
    before = rows(settings.catalog_path, PINNED)
    damage(settings.catalog_path)
    damaged = settings.catalog_path.read_bytes()
    done = scan(settings)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    ((reason, damaged_file),) = rows(
        settings.catalog_path, "SELECT reason, damaged_file FROM recoveries"
    )
    assert (settings.data / str(damaged_file)).read_bytes() == damaged
    assert str(damaged_file) in caplog.text
    taken_over = "40 published skills, 78 older versions, 0 reviews, 1 pin, 0 preferences"
    assert (taken_over in caplog.text) is (damage is not without_header)
    assert str(reason).startswith("was damaged (")
    assert rows(settings.catalog_path, PINNED) == before
    assert b"One" in (settings.packages_folder / "s05/current/SKILL.md").read_bytes()
    status = run("--data", settings.data, "status")
    assert (status.returncode, "the former catalog was damaged" in status.stdout) == (0, True)
    assert_whole(settings)
    handle(settings, "unpin", {"skill": "s05"})
    assert b"Three" in (settings.packages_folder / "s05/current/SKILL.md").read_bytes()
    versions = rows(
        settings.catalog_path,
        "SELECT version FROM versions WHERE skill_id = 's07' AND package_path IS NOT NULL",
    )
    assert len(versions) == 3
    handle(settings, "pin", {"skill": "s07", "version": str(versions[0][0])})
    assert b"One" in (settings.packages_folder / "s07/current/SKILL.md").read_bytes()
    assert_whole(settings)


def test_an_approved_danger_stays_approved(tmp_path: Path, skill: SkillWriter) -> None:
    """Where damage makes the catalog take its versions over from packages, too."""
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data")
    skill(tmp_path / "root/a")
    scan(settings)
    skill(tmp_path / "root/a", body="Clean up: rm -rf ~\n")
    scan(settings)
    words = "--watched", settings.watched, "--data", settings.data
    assert run(*words, "review", "approve", "a").returncode == 0
    scan(settings)
    overwrite(settings.catalog_path, pages_of(settings.catalog_path, "files"))
    scan(settings)
    states = rows(settings.catalog_path, "SELECT review FROM versions")
    assert states == [(None,), ("approved",)]


HISTORY = "SELECT outcome, count(*) FROM ingestions WHERE trigger = 'command' GROUP BY outcome"


@pytest.mark.parametrize(
    "table",
    [
        *("", "findings", "ingestions", "scans", "skill_references", "index_entries"),
        *("skills_fts_data", "skill_text_fts_data"),
    ],
)
def test_damage_of_what_no_other_row_rests_on_loses_nothing(
    settings: Settings, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    """All versions and the decisions of people stay, with the skills that were removed."""
    versions = "SELECT skill_id, version, package_path FROM versions ORDER BY id"
    before = [rows(settings.catalog_path, query) for query in (versions, PINNED, HISTORY)]
    if table:
        pages = pages_of(settings.catalog_path, table)
        overwrite(settings.catalog_path, [pages[len(pages) // 2]])
    else:
        without_header(settings.catalog_path)
    assert scan(settings).returncode == 0
    assert "a new one has all but some of its history" in caplog.text
    after = [rows(settings.catalog_path, query) for query in (versions, PINNED, HISTORY)]
    assert after[:2] == before[:2]
    assert rows(settings.catalog_path, "SELECT count(*) FROM recoveries") == [(1,)]
    assert_whole(settings)
    assert "s07" in run("--data", settings.data, "search", "skill number 7").stdout


def test_run_outcomes_are_read_again(settings: Settings) -> None:
    """Their files stay in the inbox, so a new catalog has them, too."""
    settings.outcomes_folder.joinpath("s01").mkdir(parents=True)
    settings.outcomes_folder.joinpath(MARKER).touch()  # handed over
    settings.outcomes_folder.joinpath("s01/run.json").write_text('{"output": "ok"}')
    scan(settings)
    truncated(settings.catalog_path)
    assert scan(settings).returncode == 0
    assert rows(settings.catalog_path, "SELECT count(*) FROM recoveries") == [(1,)]
    assert rows(settings.catalog_path, "SELECT skill_id FROM outcomes") == [("s01",)]


@pytest.mark.parametrize("copy", [False, True], ids=["links", "copies"])
def test_linked_directories_are_kept_up_to_date(
    settings: Settings, tmp_path: Path, *, copy: bool
) -> None:
    """No root knows them; what the damaged file says of them counts as far as it can be read."""
    agent = tmp_path / "agent"
    options = ["--copy"] if copy else []
    done = run("--watched", settings.watched, "--data", settings.data, "link", agent, *options)
    assert done.returncode == 0, done.stderr
    before = sorted(os.listdir(agent))
    assert len(before) == SKILLS
    middle_of_versions(settings.catalog_path)
    assert scan(settings).returncode == 0
    assert sorted(os.listdir(agent)) == before
    status = run("--data", settings.data, "status").stdout
    assert f"{'copies' if copy else 'links'} {agent}: {SKILLS} skills" in status
    handle(settings, "unpin", {"skill": "s05"})
    assert b"Three" in (agent / "s05/SKILL.md").read_bytes()


def test_a_killed_rebuild_loses_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The damaged catalog is kept, and the next start takes over what agents get."""
    before = rows(settings.catalog_path, PINNED)
    middle_of_versions(settings.catalog_path)
    damaged = settings.catalog_path.read_bytes()

    def full(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("catalog.writing.takeover.Takeover.begin", full)
        with pytest.raises(NotPossible):
            open_store(settings)
    (aside,) = settings.data.glob("catalog.db.damaged-*[0-9]")
    assert aside.read_bytes() == damaged
    assert scan(settings).returncode == 0
    assert rows(settings.catalog_path, PINNED) == before
    assert_whole(settings)


@pytest.mark.parametrize("damage", [*DAMAGES])
def test_readers_report_a_damaged_catalog(
    settings: Settings, damage: Callable[[Path], None]
) -> None:
    """Each command prints one line and exits with 2, unless its data is undamaged."""
    damage(settings.catalog_path)
    for words in (
        ["status"],
        ["search", "skill"],
        ["read", "s01"],
        ["versions", "s20"],
        ["index"],
        ["serve"],
    ):
        if damage is middle_of_versions and words == ["serve"]:
            continue  # its pages report that one by one
        done = run("--data", settings.data, *words)
        assert done.returncode in ((0, 2) if damage is middle_of_versions else (2,)), done.stderr
        assert done.stderr.count("\n") == (done.returncode == 2), done.stderr
        assert "bug" not in done.stderr


def test_damage_is_found_after_a_kill(tmp_path: Path, skill: SkillWriter) -> None:
    """After a kill, the next start checks every page, even those it would not read."""
    up = ServingProcess(tmp_path, rescan_every=3600.0)
    for number in range(30):
        skill(up.root / f"s{number:02}", body=f"{'Text. ' * 2000}{number}")
    try:
        up.start()
        up.settle()
        up.kill()
        with closing(sqlite3.connect(up.settings.catalog_path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        overwrite(up.settings.catalog_path, pages_of(up.settings.catalog_path, "versions")[1:2])
        up.start()
        up.wait_for(lambda: up.rows("SELECT 1 FROM recoveries"))
        up.settle()
        assert reconcile.compare(up.settings, engine=serial).differences == ()
        assert "damaged" in up.log.read_text()
    finally:
        up.kill()


def test_a_damaged_log_loses_nothing(settings: Settings) -> None:
    """The folder restores its content."""
    settings.catalog_path.with_name("catalog.db-wal").write_bytes(os.urandom(3 * PAGE))
    assert scan(settings).returncode == 0
    handle(settings, "unpin", {"skill": "s05"})
    assert_whole(settings)


def _connect_without_cache(path: Path, *, is_doubted: bool = False) -> sqlite3.Connection:
    connection = connect(path, is_doubted=is_doubted)
    connection.execute("PRAGMA cache_size = 2")  # pages: it then reads the file, not its cache
    return connection


@contextmanager
def rebuilding(folder: Path, skill: SkillWriter) -> Iterator[Serving]:
    """Yield a running service with skills, which is to have a whole catalog in the end."""
    it = Serving(folder)
    for number in range(SKILLS - 1):
        skill(it.root / f"s{number:02}", body=f"{'Text. ' * 2000}{number}")
    it.start()
    try:
        it.settle()
        yield it
        it.settle()
        assert_whole(it.settings)
    finally:
        it.stop()


@pytest.mark.parametrize("damage", [middle_of_versions, truncated])
def test_a_catalog_that_is_damaged_while_the_service_runs(
    tmp_path: Path,
    skill: SkillWriter,
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a deleted catalog, the service continues with a new one."""
    monkeypatch.setattr("catalog.writing.catalog_file.connect", _connect_without_cache)
    with rebuilding(tmp_path, skill) as it:
        it.wait_for(
            lambda: (
                it.settings.catalog_path.stat().st_size
                == PAGE * rows(it.settings.catalog_path, "PRAGMA page_count")[0][0]
            )
        )
        damage(it.settings.catalog_path)
        for number in range(SKILLS - 1):
            skill(it.root / f"s{number:02}", body=f"{'Text. ' * 2000} New {number}")
        it.wait_for(lambda: it.rows("SELECT 1 FROM recoveries"))


@pytest.mark.parametrize("by", ["a re-scan", "the check of a written file"])
def test_damage_is_found_while_the_service_writes_nothing(
    tmp_path: Path, skill: SkillWriter, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each checks the file itself, because the writer may see only its cache."""
    monkeypatch.setattr("pipeline.service.loop.FILE_CHECK", 3600 if by == "a re-scan" else 0.1)
    with rebuilding(tmp_path, skill) as it:
        with closing(sqlite3.connect(it.settings.catalog_path)) as db:
            # The rest of the log would overwrite the damage.
            it.wait_for(lambda: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        overwrite(it.settings.catalog_path, pages_of(it.settings.catalog_path, "versions")[-1:])
        # A re-scan starts no check while the one before, which may miss the damage, still runs.
        # Its end is not awaited: the new catalog counts its scans from 1 again.
        assert it.service
        service = it.service
        ask = service.rescan if by == "a re-scan" else lambda: None
        it.wait_for(lambda: ask() or it.rows("SELECT 1 FROM recoveries"))


def test_an_undamaged_catalog_is_not_checked(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a regular stop no page is checked; otherwise all are."""
    open_store(settings).close()
    checked: list[Path] = []
    monkeypatch.setattr(
        "catalog.database.connection.check_pages", lambda _, path: checked.append(path)
    )
    open_store(settings).close()
    assert checked == []
    os.utime(settings.catalog_path)
    open_store(settings).close()
    assert checked == [settings.catalog_path]

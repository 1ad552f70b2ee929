"""Restarts after the program or its helpers are killed at random moments of a busy ingest."""

import hashlib
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.service import reconcile
from pipeline.service.scanning.engines import serial
from tests.support.made_archives import pack_tar, pack_zip
from tests.support.promise import unpublished
from tests.support.serving import ServingProcess
from tests.support.skills import SkillWriter, write_skill

CRASHES = int(os.environ.get("CRASHES", "2"))
"""How often it is killed, and twice as often as its helpers; `make crashes` says a hundred."""


@pytest.fixture
def it(tmp_path: Path) -> Iterator[ServingProcess]:
    """Return the program, not started yet; it is ended after the test."""
    made = ServingProcess(tmp_path, rescan_every=3600.0)
    yield made
    made.kill()


@pytest.fixture
def arrivals(tmp_path: Path) -> Path:
    """Return a folder of 150 skills, to be copied into the root."""
    for number in range(150):
        write_skill(
            tmp_path / f"arrivals/s{number:03}",
            description=f"Does thing number {number}.",
            files={"scripts/run.py": f"print({number})\n", "notes.md": "n" * 2000},
        )
    return tmp_path / "arrivals"


@pytest.fixture
def packs(tmp_path: Path) -> list[Path]:
    """Return a zip and a tar of the same 20 skills."""
    packed = tmp_path / "packed"
    for number in range(20):
        write_skill(packed / f"p{number:03}", files={"scripts/run.py": f"print({number})\n"})
    return [pack_zip(packed, tmp_path / "pack.zip"), pack_tar(packed, tmp_path / "pack.tgz")]


@pytest.mark.parametrize("number", range(CRASHES))
def test_a_killed_program_loses_nothing(
    it: ServingProcess, arrivals: Path, packs: list[Path], number: int
) -> None:
    """It is killed at a random moment, while many folders arrive, change, move and disappear."""
    chance = random.Random(number)
    if number % 2:  # each second kill interrupts an update of a catalog, not the first ingest
        shutil.copytree(arrivals, it.root / "before")
        shutil.copy(packs[0], it.root)
        it.start()
        it.settle()
    else:
        it.start()
    shutil.copytree(arrivals, it.root / "now")
    change(it, chance)
    drop_archives(it, packs, chance)
    time.sleep(chance.uniform(0.0, 0.5))  # the random moment
    it.kill()
    assert_published_whole(it)
    it.start()
    it.settle()
    assert_whole(it)
    it.stop()


def drop_archives(it: ServingProcess, packs: list[Path], chance: random.Random) -> None:
    """Drop none, one or both archives into the root; perhaps cut a zip short, to be rejected."""
    for pack in chance.sample(packs, chance.randrange(3)):
        shutil.copy(pack, it.root)
    if chance.randrange(2):
        for pack in it.root.glob("*.zip"):
            os.truncate(pack, pack.stat().st_size // 2)


@pytest.mark.parametrize("number", range(CRASHES // 2))
def test_a_program_outlives_its_helpers(tmp_path: Path, skill: SkillWriter, number: int) -> None:
    """Worker processes, their parents and the site are killed until the program is stopped."""
    it = ServingProcess(tmp_path, rescan_every=3600.0, site={"enabled": True})
    chance = random.Random(number)
    for at in range(550):  # so many that helpers read them, too
        skill(it.root / f"before/s{at:03}", description="Does one thing.")
    try:
        it.start()
        killed = kill_helpers_until_quiet(it, chance)
        for at in range(0, 550, 2):
            skill(it.root / f"before/s{at:03}", description="Does another.")
        change(it, chance)
        it.wait_for(lambda: not it.is_quiet())
        killed += kill_helpers_until_quiet(it, chance)
        assert killed
        it.settle()
        assert_whole(it)
        it.kill_helper(chance)
        it.stop()
    finally:
        it.kill()
    assert it.log.read_text().endswith("Stopped by SIGTERM.\n")
    assert "Traceback" not in it.log.read_text()


def kill_helpers_until_quiet(it: ServingProcess, chance: random.Random) -> int:
    """Kill one at a time, at random moments; return how many."""
    killed = 0
    while not it.is_quiet():
        killed += it.kill_helper(chance)
        it.wait_for(lambda: True)  # the program itself lives
        time.sleep(chance.uniform(0.0, 0.1))  # the random moment
    return killed


def assert_whole(it: ServingProcess) -> None:
    """Assert that the catalog equals the root, and that nothing is pending."""
    assert it.rows("PRAGMA integrity_check") == [("ok",)]
    assert it.rows("PRAGMA foreign_key_check") == []
    assert reconcile.compare_once(it.settings, engine=serial).differences == ()
    assert_published_whole(it)
    assert unpublished(it) == []
    assert not [path for (path,) in it.rows("SELECT path FROM skills WHERE pending_since NOT NULL")]


def change(it: ServingProcess, chance: random.Random) -> None:
    """Edit, move and delete some of what was there before."""
    for folder in sorted(it.root.glob("before/*"))[:30]:
        what = chance.randrange(3)
        if what == 0:
            (folder / "SKILL.md").write_text("---\nname: x\ndescription: Changed.\n---\n")
        elif what == 1:
            folder.rename(folder.with_name(f"{folder.name}-moved"))
        else:
            shutil.rmtree(folder)


def assert_published_whole(it: ServingProcess) -> None:
    """Assert that no published file is half written."""
    index = it.index()
    assert not index or index.endswith("\n")
    # A version is published once `current` leads to it; what is half made goes at the next start.
    for package in it.settings.packages_folder.glob("*/current/SKILL.md"):
        assert package.read_text("utf-8").startswith("---\n")
    # A published skill has all files of one version at every moment.
    versions: dict[str, dict[int, set[tuple[str, str]]]] = {}
    for skill_id, version, path, sha256 in it.rows(
        "SELECT v.skill_id, v.id, f.path, f.sha256 FROM versions AS v"
        " JOIN files AS f ON f.version = v.id"
    ):
        versions.setdefault(skill_id, {}).setdefault(version, set()).add((path, sha256))
    for folder in it.settings.skills_folder.glob("[!.]*"):
        digest = {
            (str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest())
            for file in folder.rglob("*")
            if file.is_file()
        }
        assert digest in versions[folder.name].values()


def test_the_catalog_file_is_readable_after_a_kill(it: ServingProcess, skill: SkillWriter) -> None:
    """Before the next start, too."""
    it.start()
    skill(it.root / "a")
    it.settle()
    it.kill()
    db = sqlite3.connect(f"file:{it.settings.catalog_path}?mode=ro", uri=True)
    assert db.execute("SELECT count(*) FROM skills WHERE status = 'active'").fetchone() == (2,)
    db.close()

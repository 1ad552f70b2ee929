"""Comparison of roots, catalog and publications: every difference is reported and repaired."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.database import requests
from catalog.database.lock import WriterLock, lock_of
from catalog.model.errors import CatalogBusy
from catalog.model.values import Json
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import Comparison, compare, repair
from pipeline.service.requests import REPAIR
from pipeline.service.run_once import scan_once
from tests.support import program
from tests.support.indexes import location_of
from tests.support.kept_catalogs import Kept
from tests.support.made_archives import pack_zip
from tests.support.serving import ServingProcess
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE, wait_for


@pytest.fixture
def kept(tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Return a catalog of four folders, one of them rejected."""
    monkeypatch.setattr(reconcile, "RETRY_AFTER", 0.0)
    made = Kept(tmp_path)
    skill(made.root / "a", files={"scripts/run.sh": "#!/bin/sh\n"})
    skill(made.root / "b")
    skill(made.root / "deep/b", name="b")
    (made.root / "bad").mkdir()
    (made.root / "bad/SKILL.md").write_text("---\nname: bad\n---\n")
    made.scan()
    return made


def test_a_comparison_waits_for_a_folder_that_is_still_changing(
    kept: Kept, skill: SkillWriter
) -> None:
    """The folder is compared once it is settled."""
    kept.settings = kept.settings.model_copy(update={"settle_quiet": 0.3})
    skill(kept.root / "new")
    (found,) = kept.compare().differences
    assert found.where == f"{kept.root}/new"
    assert found.message != "it is still changing"


def damage_folder(kept: Kept) -> None:
    """Change a script of a skill."""
    (kept.root / "a/scripts/run.sh").write_text("#!/bin/bash\n")


def damage_index(kept: Kept) -> None:
    """Cut an index file short."""
    (kept.settings.index_folder / "default.txt").write_text("Skills.")


def leave_half_made(kept: Kept, skill_id: str = "a") -> None:
    """Leave a package as a kill in the middle of a publication does."""
    shutil.copytree(
        kept.package(skill_id), kept.settings.packages_folder / skill_id / "20200101-000000"
    )


def turn_link(kept: Kept, target: str) -> None:
    """Point `current` elsewhere."""
    link = kept.settings.packages_folder / "a/current"
    link.unlink()
    link.symlink_to(target)


def copy_in_place_of_link(kept: Kept) -> None:
    """Replace `current` by its target, as a copy that follows links does."""
    package, link = kept.package(), kept.settings.packages_folder / "a/current"
    link.unlink()
    shutil.copytree(package, link)


def put_file_for_shelf(kept: Kept) -> None:
    """Put a file in place of the packages of a skill."""
    shelf = kept.package().parent
    shutil.rmtree(shelf)
    shelf.write_text("not a directory")


def edit_last_good(kept: Kept) -> None:
    """Damage a package that cannot be restored, as its copy is damaged, too, and its folder bad."""
    (kept.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    kept.scan()
    flip_byte(kept.package() / "SKILL.md")
    flip_byte(kept.settings.skills_folder / "a/SKILL.md")


def flip_byte(file: Path) -> None:
    """Change one byte, so that the size stays."""
    data = file.read_bytes()
    file.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])


DAMAGES: dict[str, tuple[Callable[[Kept], object], str]] = {
    "edited": (damage_folder, "the catalog has the wrong file_inventory, digest, seen_digest"),
    "added": (
        lambda kept: shutil.copytree(kept.root / "a", kept.root / "c"),
        "it is missing from the catalog",
    ),
    "deleted": (lambda kept: shutil.rmtree(kept.root / "b"), "it is gone, but its status is"),
    "touched": (
        lambda kept: (kept.root / "a/SKILL.md").touch(),
        "it was touched and not scanned since",
    ),
    "stray": (
        lambda kept: (kept.root / "SKILL.md").write_text("x"),
        "the catalog has the wrong findings outside skills",
    ),
    "rejection repaired": (
        lambda kept: (kept.root / "bad/SKILL.md").write_text("---\nname: bad\ndescription: d\n---"),
        "its content is accepted, but its status is rejected",
    ),
    "content rejected": (
        lambda kept: (kept.root / "a/SKILL.md").write_text("---\nname: a\n---\n"),
        "its content is rejected, but the catalog does not record that",
    ),
    "index cut": (damage_index, "the file is out of date"),
    "index lost": (
        lambda kept: shutil.rmtree(kept.settings.index_folder),
        "the file is out of date",
    ),
    "report damaged": (
        lambda kept: (kept.settings.index_folder / "default.meta.json").write_text("{}"),
        "the report is out of date",
    ),
    "two winners": (
        lambda kept: kept.write(
            "UPDATE skills SET status = 'active', shadowed_by = NULL WHERE path = 'deep/b'"
        ),
        "of the skills with the skill_id b, b should be active",
    ),
    "column changed": (
        lambda kept: kept.write("UPDATE skills SET description = 'x' WHERE path = 'a'"),
        "the catalog has the wrong description",
    ),
    "version changed": (
        lambda kept: kept.write("UPDATE texts SET text = 'x' WHERE text LIKE '---%'"),
        "its version does not have the accepted content",
    ),
    "file row lost": (
        lambda kept: kept.write("DELETE FROM files WHERE path LIKE 'scripts/%'"),
        "its version does not have the accepted content",
    ),
    "findings lost": (
        lambda kept: kept.write("DELETE FROM findings"),
        "the catalog has the wrong findings",
    ),
    "shown as pending": (
        lambda kept: kept.write(
            "UPDATE skills SET pending_since = '2026', pending_reason = 'x' WHERE path = 'a'"
        ),
        "it is settled but shown as pending",
    ),
    "removed by mistake": (
        lambda kept: kept.write("UPDATE skills SET status = 'removed' WHERE path = 'a'"),
        "it is missing from the catalog",
    ),
    "package edited": (
        lambda kept: flip_byte(kept.package() / "SKILL.md"),
        "SKILL.md differs from the accepted version",
    ),
    "package file lost": (
        lambda kept: (kept.package() / "scripts/run.sh").unlink(),
        "scripts/run.sh is missing",
    ),
    "package file added": (
        lambda kept: (kept.package() / "more.md").write_text("more"),
        "more.md is not part of this version",
    ),
    "package lost": (lambda kept: shutil.rmtree(kept.package()), "the package is missing"),
    "package writable": (
        lambda kept: kept.package().chmod(0o775),
        "the package has mode 775 instead of 555",
    ),
    "file writable": (
        lambda kept: (kept.published() / "SKILL.md").chmod(0o644),
        "SKILL.md has mode 644 instead of 444",
    ),
    "shelf lost": (
        lambda kept: (kept.package(), shutil.rmtree(kept.settings.packages_folder / "a")),
        "it does not point to",
    ),
    "packages lost": (
        lambda kept: [shutil.rmtree(kept.package(skill_id).parent) for skill_id in ("a", "b")],
        "the package is missing",
    ),
    "package half made": (leave_half_made, "it belongs to no version in the catalog"),
    "package of nobody": (
        lambda kept: shutil.copytree(
            kept.package(), kept.settings.packages_folder / "z/20260101-000000"
        ),
        "it belongs to no version in the catalog",
    ),
    "link beside current": (
        lambda kept: (kept.settings.packages_folder / "a/.current").symlink_to("x"),
        "it belongs to no version in the catalog",
    ),
    "current elsewhere": (lambda kept: turn_link(kept, "../b/current"), "it does not point to"),
    "current to nothing": (
        lambda kept: turn_link(kept, "19990101-000000"),
        "it points to no version in the catalog",
    ),
    "current lost": (
        lambda kept: (kept.settings.packages_folder / "a/current").unlink(),
        "it does not point to",
    ),
    "current copied": (copy_in_place_of_link, "it does not point to"),
    "package not noted": (
        lambda kept: kept.write("UPDATE skills SET package_path = NULL WHERE path = 'a'"),
        "but the catalog records none",
    ),
    "version without package": (
        lambda kept: kept.write("UPDATE versions SET package_path = NULL"),
        "it is active but has no package",
    ),
    "last good package edited": (edit_last_good, "SKILL.md differs from the accepted version"),
}


LOST = {"last good package edited"}
"""Damages to files that no folder has any more."""


def test_a_new_catalog_has_no_differences(kept: Kept) -> None:
    """Not even with a rejected and a shadowed skill."""
    assert kept.compare() == Comparison((), held=0, last_good=0, folders=4)


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_reported_and_repaired(kept: Kept, damage: str) -> None:
    """A comparison names it; after the repair nothing differs."""
    do, expected = DAMAGES[damage]
    do(kept)
    assert any(expected in d.message for d in kept.compare().differences), kept.compare()
    done = repair(kept.settings)
    assert any(expected in d.message for d in (*done.repaired, *done.lost))
    assert bool(done.lost) == (damage in LOST)
    assert done.differences == ()
    assert kept.compare().differences == ()


def test_a_file_in_place_of_packages_is_reported_and_kept_aside(
    kept: Kept, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Packages are made in its place; skilldrop did not create the file, so it is not removed."""
    put_file_for_shelf(kept)
    (kept.settings.packages_folder / "c").write_text("not a directory")
    shutil.rmtree(kept.root / "b")
    skill(kept.root / "a", description="Changed.")
    skill(kept.root / "c")
    kept.scan()
    assert f"{kept.settings.packages_folder / 'a'} was not a directory" in caplog.text
    assert f"{kept.settings.packages_folder / 'c'} was not a directory" in caplog.text
    assert (kept.settings.packages_folder / "c/current/SKILL.md").is_file()
    aside = {str(kept.settings.packages_folder / name) for name in ("a.~1~", "c.~1~")}
    assert {Path(path).read_text() for path in aside} == {"not a directory"}
    assert {d.where for d in kept.compare().differences} == aside


def test_a_folder_that_wins_over_a_link_to_it_is_no_difference(kept: Kept) -> None:
    """Even if the link is less deep and comes first by name."""
    (kept.root / "0").symlink_to("deep/b")
    (kept.root / "b").rename(kept.root.parent / "away")
    kept.scan()
    comparison = compare(kept.settings)
    assert comparison.differences == ()
    assert comparison.folders == 4


def test_a_last_good_version_is_no_difference(kept: Kept) -> None:
    """The catalog promises it and reports it."""
    (kept.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    kept.scan()
    assert kept.compare() == Comparison((), held=0, last_good=1, folders=4)


def test_skills_of_an_archive_that_is_now_refused_are_no_difference(
    kept: Kept,
    tmp_path: Path,
    skill: SkillWriter,
) -> None:
    """Its last good versions stay, and their packages are still compared."""
    for name in ("x", "y"):
        skill(tmp_path / "packed" / name)
    archive = pack_zip(tmp_path / "packed", kept.root / "pack.zip")
    kept.scan()
    assert kept.compare() == Comparison((), held=0, last_good=0, folders=6)
    os.truncate(archive, archive.stat().st_size // 2)
    kept.scan()
    assert kept.compare() == Comparison((), held=0, last_good=2, folders=6)
    flip_byte(kept.package("x") / "SKILL.md")
    assert {d.kind for d in kept.compare().differences} == {"package"}


def test_an_older_version_is_compared_and_removed_if_it_is_damaged(kept: Kept) -> None:
    """A pin may need it, so it must be as accepted; no folder has its files any more."""
    older = kept.package()
    (kept.root / "a/SKILL.md").write_text("---\nname: a\ndescription: Newer.\n---\n")
    kept.scan()
    assert {d.message for d in kept.compare().differences} == {
        "the package has mode 755 instead of 555",
        "scripts has mode 755 instead of 555",
        "SKILL.md has mode 644 instead of 444",
        "scripts/run.sh has mode 644 instead of 444",
    }
    repair(kept.settings)  # modes are set right, also where the package could not be made again
    assert kept.compare().differences == ()
    (older / "scripts/run.sh").chmod(0o644)
    flip_byte(older / "scripts/run.sh")
    done = repair(kept.settings)
    assert done.repaired == ()
    assert [d.where for d in done.lost] == [str(older)]
    assert done.lost[0].package_path == f"a/{older.name}"
    assert done.differences == ()
    assert not older.exists()
    assert "Newer." in (kept.package() / "SKILL.md").read_text()


def test_a_removed_skill_keeps_its_package_for_a_while_and_that_is_no_difference(
    kept: Kept,
) -> None:
    """Its readers can finish."""
    package = kept.published()
    shutil.rmtree(kept.root / "a")
    kept.scan()
    assert package.is_dir()
    assert not (package.parent / "current").exists()
    assert kept.compare().differences == ()


def test_in_place_no_package_is_published_or_missing(kept: Kept) -> None:
    """Earlier packages are removed."""
    kept.settings = kept.settings.model_copy(update={"publish": "in-place"})
    kinds = {d.kind for d in kept.compare().differences}
    assert "package" in kinds
    assert repair(kept.settings).differences == ()
    assert kept.compare().differences == ()


def test_held_removals_are_reported_until_they_are_accepted(kept: Kept) -> None:
    """Even those of a missing root."""
    kept.root.rename(kept.root.with_name("away"))
    store = open_store(kept.settings, needs_root=False)
    scan_once(kept.settings, store)
    store.close()
    assert kept.compare() == Comparison((), held=4, last_good=0, folders=0)
    done = repair(kept.settings, accepts_removals=True)
    assert (done.held, done.differences, len(done.accepted)) == (0, (), 4)
    with sqlite3.connect(kept.settings.catalog_path) as db:
        assert db.execute("SELECT DISTINCT status FROM skills").fetchall() == [("removed",)]
    db.close()


@pytest.fixture
def up(tmp_path: Path) -> Iterator[ServingProcess]:
    """Return the running program; the fixture ends it."""
    made = ServingProcess(tmp_path, rescan_every=3600.0).start()
    yield made
    made.stop()


def reconciled(it: ServingProcess, *words: str) -> tuple[int, dict[str, Any]]:
    """Run `skilldrop reconcile` to its end; return its exit code and what it printed."""
    catalog = ("--watched", it.root, "--data", it.settings.data)
    done = program.run(*catalog, "reconcile", "--json", *words, SKILLDROP_SETTLE_QUIET="0.1")
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_a_running_service_does_the_repair(up: ServingProcess, skill: SkillWriter) -> None:
    """No event reports damage to the catalog, to packages and to the index."""
    for name in ("a", "b"):
        skill(up.root / name, files={"scripts/run.sh": "#!/bin/sh\n"})
    up.settle()
    assert reconciled(up) == (
        0,
        {
            "differences": [],
            "repaired": [],
            "lost": [],
            "changes": [],
            "removed": [],
            "accepted": [],
            "seen": 3,
            "held": 0,
            "last_good": 0,
        },
    )
    damaged = Kept.__new__(Kept)
    damaged.root, damaged.settings = up.root, up.settings
    flip_byte(damaged.package() / "SKILL.md")
    turn_link(damaged, "19990101-000000")
    leave_half_made(damaged, "b")
    damaged.write("UPDATE skills SET description = 'x' WHERE path = 'b'")
    damage_index(damaged)
    assert reconciled(up, "--check")[0] == 1
    code, said = reconciled(up)
    assert (code, said["differences"]) == (0, [])
    assert {each["kind"] for each in said["repaired"]} == {"catalog", "package", "index"}
    assert len(said["repaired"]) >= 5
    assert compare(up.settings).differences == ()
    assert up.health()["missed_by_events"] == 0
    skill(up.root / "a", description="Still followed.")
    up.settle()
    assert "Still followed." in up.index()


def test_a_running_service_accepts_held_removals(up: ServingProcess, skill: SkillWriter) -> None:
    """Those of a missing root, too."""
    skill(up.root / "a")
    up.settle()
    up.root.rename(up.root.with_name("away"))
    up.wait_for(lambda: up.health()["held_removals"] == 2)
    assert reconciled(up, "--check")[1]["held"] == 2
    code, said = reconciled(up, "--accept-removals")
    assert (code, said["held"], said["differences"]) == (0, 0, [])
    assert [each["path"] for each in said["accepted"]] == ["a", "sentinel"]
    assert said["removed"] == said["accepted"]
    assert up.rows("SELECT DISTINCT status FROM skills") == [("removed",)]
    assert up.health()["held_removals"] == 0


def test_a_repair_waits_for_folders_that_are_still_changing(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """As it does without a service; the result comes once the settled folder was read."""
    up = ServingProcess(tmp_path, settle_quiet=1.0, rescan_every=3600.0).start()
    skill(up.root / "a")
    up.settle()
    skill(up.root / "late")
    arguments: dict[str, Json] = {"accept_removals": False, "places": [], "deep": True}
    requests.ask(up.settings.catalog_path, REPAIR, arguments)
    assert up.statuses() == {"a": "active", "late": "active"}
    assert location_of(up.index(), "late")
    up.stop()


def test_a_repair_that_the_service_does_not_finish_is_reported(
    up: ServingProcess, skill: SkillWriter
) -> None:
    """The command prints one sentence."""
    skill(up.root / "a")
    up.settle()
    up.suspend()
    asking = subprocess.Popen(
        [
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            up.root,
            "--data",
            up.settings.data,
            "reconcile",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: up.rows("SELECT 1 FROM requests"))
    with sqlite3.connect(up.settings.catalog_path) as db:
        db.execute("UPDATE requests SET started_at = asked_at")
    db.close()
    up.stop()
    assert asking.communicate(timeout=PATIENCE)[1] == (
        "skilldrop: The service ended before it was done. Try again.\n"
    )
    assert asking.returncode == 2


def test_beside_a_scan_nothing_is_repaired(kept: Kept) -> None:
    """The error names the process that writes."""
    lock = WriterLock(lock_of(kept.settings.catalog_path))
    with pytest.raises(CatalogBusy, match=f"process {os.getpid()}"):
        repair(kept.settings)
    lock.close()


def test_the_command_prints_the_result_and_exits_accordingly(
    kept: Kept, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For people and for programs."""
    from pipeline.cli.app import cli

    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0.1")
    common = ["--watched", str(kept.root), "--data", str(kept.settings.data), "reconcile"]
    damage_index(kept)
    assert cli.main([*common, "--check"], standalone_mode=False) == 1
    assert "index: " in capsys.readouterr().out
    assert cli.main([*common, "--json"], standalone_mode=False) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["differences"], len(said["repaired"]), said["held"]) == ([], 1, 0)
    assert cli.main([*common, "--check"], standalone_mode=False) == 0
    assert "no differences" in capsys.readouterr().out


def printed(
    kept: Kept, capsys: pytest.CaptureFixture[str], *words: str, root: Path | None = None
) -> list[str]:
    """Return the lines that the command prints."""
    from pipeline.cli.app import cli

    place = ["--watched", str(root or kept.root), "--data", str(kept.settings.data)]
    with pytest.MonkeyPatch.context() as hurried:
        hurried.setenv("SKILLDROP_SETTLE_QUIET", "0.1")
        assert cli.main([*place, "reconcile", *words], standalone_mode=False) == 0
    return capsys.readouterr().out.splitlines()


def test_changes_are_listed_and_never_called_no_differences(
    kept: Kept, skill: SkillWriter, capsys: pytest.CaptureFixture[str]
) -> None:
    """Added, changed and removed skills have a line each."""
    shutil.rmtree(kept.root / "b")
    skill(kept.root / "new")
    skill(kept.root / "a", description="Changed.")
    turn_link(kept, "19990101-000000")
    lines = printed(kept, capsys)
    assert lines[0] == f"removed: {kept.root}/b"
    assert {f"updated: {kept.root}/a", f"added: {kept.root}/new"} <= set(lines)
    assert lines[-1].startswith("4 skill folders compared; 1 skill removed, ")
    assert lines[-1].endswith("repaired, no differences remain.")
    assert "no differences" in printed(kept, capsys)[-1]


def test_a_package_that_no_folder_can_restore_is_listed_as_lost(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was removed, so it is not listed among the repaired ones."""
    edit_last_good(kept)
    package = kept.published()
    lines = printed(kept, capsys)
    assert f"lost: {package}: SKILL.md differs from the accepted version; no folder has it" in lines
    assert "1 package lost" in lines[-1] or "1 package lost" in lines[-2]


@pytest.mark.parametrize("publish", ["copy", "in-place"])
def test_held_skills_stay_where_agents_read_them(kept: Kept, tmp_path: Path, publish: str) -> None:
    """In its package, or in its folder where skills are published in place."""
    kept.settings = kept.settings.model_copy(update={"publish": publish})
    kept.scan()
    index = (kept.settings.index_folder / "default.txt").read_text()
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    kept.settings = kept.settings.model_copy(update={"watched": wrong})
    kept.scan()
    kept.scan()
    assert (kept.settings.index_folder / "default.txt").read_text() == index
    names = [re.split(r": | \(", line)[0] for line in index.splitlines()[2:-1]]
    locations = [location_of(index, name) for name in names]
    assert locations
    assert all(location and Path(location).is_file() for location in locations)
    assert kept.compare() == Comparison((), held=4, last_good=0, folders=0)


def test_an_empty_root_is_not_reported_as_no_differences(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The root may be the wrong one."""
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    lines = printed(kept, capsys, root=wrong)
    assert f"held: {kept.root}/a (its root is no longer configured)" in lines
    assert "The roots contain no skill folder" in lines[-2]
    assert lines[-1].startswith("4 removals held")
    for words in ([], ["--check"]):
        assert printed(kept, capsys, *words, root=wrong)[0] == (
            "The roots contain no skill folder, so no folder was compared."
        )


def test_roots_of_other_settings_are_not_passed_over(kept: Kept) -> None:
    """Skills are compared with the settings in force, also before a scan has applied them."""
    other = kept.root.with_name("other")
    kept.settings = kept.settings.model_copy(update={"watched": other})
    differences = kept.compare().differences
    assert len(differences) == 4
    assert {found.message for found in differences} == {"its root is no longer configured"}


def test_a_wrong_configuration_removes_nothing_until_that_is_accepted(
    kept: Kept, skill: SkillWriter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Agents can still read; accepted removals are listed, a screenful or, as JSON, all."""
    for number in range(40):
        skill(kept.root / f"s{number:02}")
    kept.scan()
    index = kept.settings.index_folder / "default.txt"
    before = index.read_text()
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    right, kept.settings = kept.settings, kept.settings.model_copy(update={"watched": wrong})
    kept.scan()
    assert (index.read_text(), kept.compare().held) == (before, 44)
    kept.settings = right
    kept.scan()
    assert kept.compare() == Comparison((), held=0, last_good=0, folders=44)
    assert index.read_text() == before
    lines = printed(kept, capsys, "--accept-removals", root=wrong)
    assert len([line for line in lines if line.startswith("removed: ")]) == 20
    assert "… and 24 more; --json lists all of them" in lines
    assert "44 skills removed" in lines[-1]
    assert index.read_text() == ""
    kept.scan()
    assert index.read_text() == before
    said = json.loads("\n".join(printed(kept, capsys, "--json", "--accept-removals", root=wrong)))
    assert (len(said["removed"]), said["accepted"]) == (44, [])

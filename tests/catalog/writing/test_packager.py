"""Publication of accepted skills: its content and its order."""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from catalog.model.skill import RootSpec
from catalog.prompt_index.spec import IndexSpec
from catalog.reading.search import word_search
from catalog.writing import packager
from catalog.writing.links import table
from catalog.writing.packages import staging
from catalog.writing.packages.builder import Packages
from catalog.writing.rows import batch, shadowing
from tests.support.indexes import location_of
from tests.support.packages import World, wrong_files
from tests.support.records import NOON
from tests.support.skills import SkillWriter


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return an empty root with its catalog and packages."""
    made = World(tmp_path)
    yield made
    made.store.close()


@pytest.mark.requirement("agent-skills/other-files", "prd/package-path", "prd/packages-whole")
def test_an_accepted_skill_is_published_whole(world: World, skill: SkillWriter) -> None:
    """Every file has the judged bytes, read-only, under `current`."""
    skill(world.root / "a", files={"scripts/run.sh": "echo 1\n", "deep/er/x.bin": b"\0\xff"})
    (world.root / "a/scripts/run.sh").chmod(0o755)
    world.scan()
    package = world.current("a")
    assert package.parent == world.packages / "a"
    assert {
        str(f.relative_to(package)): (f.read_bytes(), f.stat().st_mode & 0o777)
        for f in package.rglob("*")
        if f.is_file()
    } == {
        "SKILL.md": ((world.root / "a/SKILL.md").read_bytes(), 0o444),
        "scripts/run.sh": (b"echo 1\n", 0o555),
        "deep/er/x.bin": (b"\0\xff", 0o444),
    }
    assert {d.stat().st_mode & 0o777 for d in (package, *package.rglob("*")) if d.is_dir()} == {
        0o555
    }
    assert world.rows(
        "SELECT s.package_path = v.package_path, s.package_path FROM skills AS s"
        " JOIN versions AS v ON v.id = s.current_version_id"
    ) == [(1, f"a/{package.name}")]
    assert world.differences() == []


def test_whatever_the_umask_others_can_read(world: World, skill: SkillWriter) -> None:
    """Agents may run as other users."""
    skill(world.root / "a", files={"references/x.md": "x"})
    before = os.umask(0o077)
    try:
        world.scan()
    finally:
        os.umask(before)
    modes = {p.stat().st_mode & 0o777 for p in world.current("a").rglob("*")}
    assert modes == {0o444, 0o555}
    assert (world.packages / "a").stat().st_mode & 0o755 == 0o755


@pytest.mark.requirement("client-guide/file", "client-guide/record")
def test_the_index_points_to_the_published_skill(
    world: World, skill: SkillWriter, tmp_path: Path
) -> None:
    """An agent reads the judged SKILL.md there."""
    world.store.links.configure(tmp_path / "skills", [])
    skill(world.root / "a")
    world.scan()
    world.store.indexes.configure([IndexSpec()])
    world.store.publish_indexes([IndexSpec()], tmp_path / "index", NOON)
    (hit,) = word_search.search(world.store.db, "a").hits
    assert hit.location == str(tmp_path / "skills/a/SKILL.md")
    assert location_of((tmp_path / "index/default.txt").read_text(), "a") == hit.location
    assert Path(hit.location).read_bytes() == (world.root / "a/SKILL.md").read_bytes()


def test_versions_share_no_file(world: World, skill: SkillWriter) -> None:
    """An edit of one version reaches neither another one nor the folder of the root."""
    skill(world.root / "a", files={"x.txt": "same", "y.txt": "one"})
    world.scan()
    skill(world.root / "a", files={"y.txt": "two"})
    world.scan()
    files = [path for path in world.packages.glob("a/2*/*") if path.is_file()]
    assert len(files) == 6
    assert {file.stat().st_nlink for file in files} == {1}


@pytest.mark.parametrize("harm", ["bytes", "mode", "link"])
def test_the_next_version_does_not_inherit_damage(
    world: World, skill: SkillWriter, tmp_path: Path, harm: str
) -> None:
    """Its files are copied from the folder, not from the version before."""
    skill(world.root / "a", files={"x/x.txt": "same", "y.txt": "one"})
    world.scan()
    file = world.current("a") / "x/x.txt"
    if harm == "link":
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "x.txt").write_text("same")
        (outside / "x.txt").chmod(0o444)
        file.parent.parent.chmod(0o755)
        file.parent.rename(tmp_path / "away")
        file.parent.symlink_to(outside)
    else:
        file.chmod(0o644)
        file.write_text("SAME" if harm == "bytes" else "same")
        file.chmod(0o444 if harm == "bytes" else 0o664)
    skill(world.root / "a", files={"y.txt": "two"})
    world.scan()
    published = world.current("a") / "x/x.txt"
    assert (published.read_text(), published.stat().st_mode & 0o777) == ("same", 0o444)
    assert published.stat().st_nlink == 1


def test_the_next_index_removes_the_current_of_a_removed_skill(
    world: World, skill: SkillWriter
) -> None:
    """Its package stays for a while, and is current again when the skill returns."""
    skill(world.root / "a")
    skill(world.root / "b")
    world.scan()
    package = world.current("a")
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    world.store.publish_indexes([], world.folder / "index", NOON)
    assert not os.path.lexists(world.packages / "a/current")
    assert package.is_dir()
    assert (world.packages / "b/current/SKILL.md").is_file()
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    world.store.publish_indexes([], world.folder / "index", NOON)
    assert world.current("a") == package
    assert world.differences() == []


def test_the_next_start_after_a_crash_removes_the_current_of_a_removed_skill(
    world: World, skill: SkillWriter
) -> None:
    """The crash came before the next index."""
    skill(world.root / "a")
    world.scan()
    shutil.rmtree(world.root / "a")
    world.scan()
    world.restart()
    assert not os.path.lexists(world.packages / "a/current")


def test_a_scan_without_changes_begins_no_transaction(world: World, skill: SkillWriter) -> None:
    """Every event causes a scan, and only one process may write at a time."""
    skill(world.root / "a")
    skill(world.root / "b")
    world.scan()
    statements: list[str] = []
    world.store.db.conn.set_trace_callback(statements.append)
    assert world.look("a").outcomes == {"unchanged": 1}
    assert world.look("nothing").outcomes == {}
    world.store.db.conn.set_trace_callback(None)
    assert statements
    assert [sql for sql in statements if not sql.lstrip().startswith(("SELECT", "WITH"))] == []


@pytest.mark.requirement("prd/packages-whole")
def test_a_reader_stays_in_the_version_it_resolved(world: World, skill: SkillWriter) -> None:
    """An update does not change the previous version."""
    skill(world.root / "a", description="One.", files={"x.txt": "one"})
    world.scan()
    reading = world.current("a")
    skill(world.root / "a", description="Two.", files={"x.txt": "two"})
    world.scan()
    assert (reading / "x.txt").read_text() == "one"
    assert (world.current("a") / "x.txt").read_text() == "two"
    assert world.rows("SELECT retired_at IS NULL FROM versions ORDER BY id") == [(0,), (1,)]


@pytest.mark.requirement("own/packages-rejected")
def test_rejected_content_is_never_published(world: World, skill: SkillWriter) -> None:
    """The last good version stays, with a finding, until the content is good again."""
    skill(world.root / "a", files={"x.txt": "good"})
    world.scan()
    good = world.current("a")
    (world.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    (world.root / "a/x.txt").write_text("bad")
    assert world.scan().outcomes == {"rejected": 1}
    assert world.current("a") == good
    assert (good / "x.txt").read_text() == "good"
    assert ("last-good-version-stands",) in world.rows("SELECT code FROM findings")
    assert world.differences() == []
    skill(world.root / "a", files={"x.txt": "better"})
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "better"
    assert world.rows("SELECT code FROM findings") == []


def test_only_the_winner_of_a_name_is_published(world: World, skill: SkillWriter) -> None:
    """When it is removed, the same batch publishes the runner-up from its own folder."""
    skill(world.root / "a/start", description="First.")
    skill(world.root / "b/start", description="Second.")
    world.scan()
    assert "First." in (world.current("start") / "SKILL.md").read_text()
    assert len(list((world.packages / "start").iterdir())) == 2
    shutil.rmtree(world.root / "a")
    assert world.look("a").unsettled == []
    assert "Second." in (world.current("start") / "SKILL.md").read_text()
    assert world.differences() == []


def test_a_runner_up_that_changed_without_an_event_is_not_published(
    world: World, skill: SkillWriter
) -> None:
    """It is pending, is reported for another scan, and is published after that."""
    skill(world.root / "a/start", description="First.")
    skill(world.root / "b/start", description="Second.")
    world.scan()
    first = world.current("start")
    skill(world.root / "b/start", description="Third.")
    shutil.rmtree(world.root / "a")
    report = world.look("a")
    assert [unit.path for unit in report.unsettled] == ["b/start"]
    assert world.rows("SELECT status, pending_reason FROM skills WHERE path = 'b/start'") == [
        ("pending", "its files changed or became unreadable after they were checked")
    ]
    assert world.current("start") == first  # an agent on its way there still finds it
    world.look("b/start")
    assert "Third." in (world.current("start") / "SKILL.md").read_text()
    assert world.differences() == []


@pytest.mark.parametrize("change", ["content", "removed", "folder removed", "a link instead"])
def test_a_folder_that_changes_after_it_was_judged_waits(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """It is not stored, but the rest of its batch is; the next scan stores it."""
    for name in "abc":
        skill(world.root / name, files={"x.txt": "judged"})
    write_batch = batch.write_batch

    def changing(db: object, changes: Sequence[object], **kwargs: object) -> object:
        if changes:
            _replace(world.root / "b/x.txt", change)
        return write_batch(db, changes, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(batch, "write_batch", changing)
        report = world.scan()
    assert report.outcomes == {"added": 2}
    assert [unit.path for unit in report.unsettled] == ["b"]
    assert world.rows("SELECT path FROM skills ORDER BY path") == [("a",), ("c",)]
    assert not (world.packages / "b" / "current").exists()
    assert world.differences() == []
    world.look("b")
    assert world.differences() == []


def _replace(file: Path, change: str) -> None:
    if change == "content":
        file.write_text("swapped")
    elif change == "folder removed":
        shutil.rmtree(file.parent, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)
        if change == "a link instead":
            file.symlink_to("/etc/hostname")


def test_a_rename_keeps_its_package_where_the_name_stays(world: World, skill: SkillWriter) -> None:
    """A moved folder needs no new package."""
    skill(world.root / "old", name="a")
    world.scan()
    before = world.current("a")
    (world.root / "old").rename(world.root / "new")
    assert world.scan().outcomes == {"renamed": 1}
    assert world.current("a") == before
    assert world.differences() == []


def test_a_removed_skill_keeps_its_package_for_current_readers(
    world: World, skill: SkillWriter
) -> None:
    """The catalog no longer names it; retention removes its files later."""
    skill(world.root / "a")
    world.scan()
    before = world.current("a")
    shutil.rmtree(world.root / "a")
    world.scan()
    assert world.current("a") == before
    assert world.rows("SELECT package_path FROM skills") == [(None,)]
    assert world.rows("SELECT retired_at IS NULL FROM versions") == [(0,)]
    skill(world.root / "a")
    world.scan()
    assert world.current("a") == before
    assert world.rows("SELECT retired_at FROM versions") == [(None,)]
    assert world.differences() == []


@pytest.mark.parametrize("in_place", [False, True])
def test_skills_in_archives_are_always_published_as_packages(
    tmp_path: Path, skill: SkillWriter, in_place: bool
) -> None:
    """Agents cannot read archives; skills in folders follow the setting."""
    world = World(tmp_path, in_place=in_place)
    skill(tmp_path / "b", files={"scripts/run.sh": "echo 1\n", "big.bin": bytes(3_000_000)})
    shutil.make_archive(str(world.root / "pack"), "zip", tmp_path, "b")
    skill(world.root / "a")
    assert world.scan().outcomes == {"added": 2}
    assert (world.current("b") / "scripts/run.sh").read_text() == "echo 1\n"
    assert (world.packages / "a").exists() is not in_place
    assert world.differences() == []
    world.restart(in_place=in_place)
    assert world.differences() == []
    (world.root / "pack.zip").unlink()
    assert world.scan().outcomes["removed"] == 1
    world.store.close()


def test_in_place_publishes_nothing_and_points_into_the_root(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """With the setting for no copies."""
    world = World(tmp_path, in_place=True)
    skill(world.root / "a")
    world.scan()
    assert not world.packages.exists()
    (hit,) = word_search.search(world.store.db, "a").hits
    assert hit.location == str(world.root / "a/SKILL.md")
    world.store.close()


def test_the_setting_can_be_changed_at_any_time(world: World, skill: SkillWriter) -> None:
    """The next start publishes skills without a package, or points into the root again."""
    skill(world.root / "a")
    world.scan()
    world.restart(in_place=True)
    assert world.rows("SELECT package_path FROM skills") == [(None,)]
    skill(world.root / "b")
    world.scan()
    world.restart()
    assert world.differences() == []
    assert world.lying() == ["a", "b"]


def test_a_disk_without_room_leaves_the_catalog_as_it_was(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch and its packages are rolled back, and succeed once the disk has room."""
    skill(world.root / "a", files={"x.txt": "x"})

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            world.scan()
    assert world.rows("SELECT count(*) FROM skills") == [(0,)]
    assert world.differences() == []
    world.scan()
    assert world.differences() == []


@pytest.mark.requirement("agent-skills/scripts")
def test_scripts_run_from_the_package_by_a_plain_shell(world: World, examples: Path) -> None:
    """Modes are kept, and read-only directories do not matter."""
    shutil.copytree(examples, world.root, dirs_exist_ok=True)
    world.scan()
    table = world.folder / "table.csv"
    table.write_text("name,age\nAda,36\nLin,41\n")
    (script,) = (world.packages / "csv-profile/current/scripts").glob("*.py")
    done = subprocess.run(
        [sys.executable, script, table], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "age" in done.stdout
    assert world.differences() == []


STEPS: dict[str, tuple[object, str]] = {
    "before anything is decided": (shadowing, "decide"),
    "before the first package": (staging, "stage"),
    "halfway through a package": (staging, "_copy"),
    "after the packages are made": (packager, "sync_folder"),
    "after the commit": (packager.Packager, "switch_current"),
    "halfway through the switches": (Packages, "switch_current"),
    "halfway through a switch": (os, "replace"),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("nth", [1, 2, 5])
def test_the_next_start_repairs_a_crash_at_any_step(
    world: World, skill: SkillWriter, step: str, nth: int
) -> None:
    """The process is killed; each public version is complete at all times."""
    for name in "abcdef":
        skill(world.root / name, files={"x.txt": "old", "assets/SKILL.md": "same"})
    skill(world.root / "z/a", description="Comes second.")
    world.scan()
    before = {name: world.current(name) for name in "abcdef"}
    for name in "abc":
        skill(world.root / name, files={"x.txt": f"new {name}", "assets/SKILL.md": "y"})
    shutil.rmtree(world.root / "a")
    skill(world.root / "g", files={"x.txt": "new"})
    world.store.close()

    status = _killed_scan(world, step, nth)

    assert status == 9 or nth > 1  # not each step happens five times
    _assert_public_versions_are_complete(world, before)
    world.store = world.opened()
    assert world.differences() == []
    assert world.scan().unsettled == []
    assert world.differences() == []
    assert {name: (world.current(name) / "x.txt").read_text() for name in "bcdefg"} == {
        "b": "new b",
        "c": "new c",
        "d": "old",
        "e": "old",
        "f": "old",
        "g": "new",
    }
    assert "Comes second." in (world.current("a") / "SKILL.md").read_text()


def _killed_scan(world: World, step: str, nth: int) -> int:
    """Return the exit code of a process that scans and is killed at a step."""
    if not (child := os.fork()):
        try:
            _die(*STEPS[step], nth)
            World(world.folder).scan()
            os._exit(0)
        finally:
            os._exit(1)  # even after an error, this process must not continue the tests
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status)


def _assert_public_versions_are_complete(world: World, before: dict[str, Path]) -> None:
    """Check the state that agents see before the repair."""
    with closing(sqlite3.connect(world.folder / "catalog.db")) as db:
        for name in "abcdef":
            public = world.current(name)
            ((version,),) = db.execute(
                "SELECT id FROM versions WHERE package_path = ?", [f"{name}/{public.name}"]
            ).fetchall()
            assert wrong_files(db, version, public) == []
            assert public == before[name] or name in "abc"


def _die(owner: object, name: str, nth: int) -> None:
    """Kill this process at the nth call of a function."""
    real: Callable[..., object] = getattr(owner, name)
    calls = iter(range(1, 1_000_000))

    def deadly(*args: object, **kwargs: object) -> object:
        if next(calls) >= nth:
            os._exit(9)
        return real(*args, **kwargs)

    setattr(owner, name, deadly)


def test_missing_packages_are_rebuilt(world: World, skill: SkillWriter) -> None:
    """The next start restores one package, one link, or the whole folder."""
    for name in "ab":
        skill(world.root / name)
    world.scan()
    version = world.current("a")
    os.chmod(version, 0o755)
    shutil.rmtree(version)
    (world.packages / "b/current").unlink()
    world.restart()
    assert world.differences() == []
    subprocess.run(["chmod", "-R", "u+w", world.packages], check=True)
    shutil.rmtree(world.packages)
    world.restart()
    assert world.differences() == []


def test_a_missing_package_whose_folder_changed_is_not_rebuilt(
    world: World, skill: SkillWriter
) -> None:
    """The skill is pending until the next scan."""
    skill(world.root / "a", description="One.")
    world.scan()
    subprocess.run(["chmod", "-R", "u+w", world.packages], check=True)
    shutil.rmtree(world.packages)
    skill(world.root / "a", description="Two.")
    world.restart()
    assert world.rows("SELECT status FROM skills") == [("pending",)]
    world.scan()
    assert world.differences() == []
    assert "Two." in (world.current("a") / "SKILL.md").read_text()


@pytest.mark.parametrize("harm", [b"", b"!"], ids=["the same", "other bytes"])
def test_large_files_share_their_blocks_where_the_file_system_can(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch, harm: bytes
) -> None:
    """The result is verified like a copy."""
    cloned = []

    def clone(target: int, request: int, source: int) -> None:
        cloned.append(request)
        os.pwrite(target, harm + os.pread(source, 1_000_000, 0)[len(harm) :], 0)

    monkeypatch.setattr(fcntl, "ioctl", clone)
    skill(world.root / "a", files={"large.bin": bytes(200_000), "small.bin": b"s"})
    report = world.scan()
    assert cloned == [0x40049409]
    assert (report.outcomes["added"], len(report.unsettled)) == ((0, 1) if harm else (1, 0))
    assert world.differences() == []


def test_blocks_are_copied_where_they_cannot_be_shared(
    world: World, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packages have the same files."""
    tried = []

    def refuse(*_: object) -> None:
        tried.append(1)
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    skill(world.root / "a", files={f"{n}.bin": bytes([n]) * 200_000 for n in range(3)})
    world.scan()
    assert tried
    assert world.differences() == []


def test_a_last_good_version_moves_with_its_root_into_a_plugin(
    world: World, skill: SkillWriter
) -> None:
    """Its content is rejected and its skill_id is new, but the public bytes stay the same."""
    skill(world.root / "pack/a", files={"x.txt": "good"})
    world.scan()
    before = world.current("a")
    (world.root / "pack/a/SKILL.md").write_text("---\nname: a\n---\n")
    world.scan()
    world.roots = [RootSpec(str(world.root), level="plugin")]
    world.restart()
    world.scan()
    assert world.rows("SELECT skill_id, status FROM skills") == [("pack--a", "active")]
    assert (world.current("pack--a") / "x.txt").read_bytes() == (before / "x.txt").read_bytes()
    assert world.differences() == []


def test_the_cost_of_a_change_does_not_depend_on_the_size_of_the_catalog(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """It is counted in SQLite steps, from the scan to the package, the copy and the index.

    Ten times the rows make trees deeper, and the index counts its skills.
    """

    def change(world: World) -> None:
        skill(world.root / "s000", description="Does another thing.")
        assert world.look("s000").outcomes == {"updated": 1}
        world.store.publish_indexes([SMALL], world.folder / "index", NOON)

    worlds = (_filled(tmp_path, skill, count) for count in (100, 1000))
    steps = [_steps(world, partial(change, world)) for world in worlds]
    assert steps[1] < 1.6 * steps[0], steps


def test_the_cost_of_a_verified_package_does_not_depend_on_the_size_of_the_catalog(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """The service takes each step of a verification between changes, which wait for it."""
    steps = []
    for count in (100, 1000):
        world = _filled(tmp_path, skill, count)
        verification = world.store.repair.verify(lambda: NOON)
        next(verification)
        steps.append(_steps(world, partial(next, verification)))
    assert steps[1] < 1.6 * steps[0], steps


SMALL = IndexSpec(budget_chars=500)


def _filled(folder: Path, skill: SkillWriter, count: int) -> World:
    """Return a catalog of so many published skills."""
    world = World(folder / str(count))
    for number in range(count):
        skill(world.root / f"s{number:03}", description=f"Does thing number {number}.")
    table.configure(world.store.db, str(world.folder / "skills"), [])
    world.scan()
    world.store.indexes.configure([SMALL])
    world.store.publish_indexes([SMALL], world.folder / "index", NOON)
    return world


def _steps(world: World, work: Callable[[], object]) -> int:
    """Return how many steps SQLite takes for some work, and close the catalog."""
    steps = 0

    def counted() -> None:
        nonlocal steps
        steps += 1

    world.store.db.conn.set_progress_handler(counted, 1)
    work()
    world.store.close()
    return steps

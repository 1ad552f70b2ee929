"""Published skills: plain folders beside the catalog, and copies of them for agents."""

import operator
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catalog.filesystem import operations
from catalog.model.errors import CatalogUnusable, NotPlaced
from catalog.reading import status
from catalog.writing.links import directory
from catalog.writing.links import table as tables
from catalog.writing.packages import staging
from pipeline.service import reconcile
from pipeline.service.open_catalog import publish
from pipeline.service.run_once import scan_once
from pipeline.service.scanning import change_batches
from tests.support import without_rights
from tests.support.disks import folder_on_another
from tests.support.indexes import location_of
from tests.support.linking import Linking, links_in, names_in
from tests.support.packages import World
from tests.support.records import NOON
from tests.support.skills import write_skill
from tests.support.waiting import wait_for

AGENTSKILLS = Path(sys.executable).with_name("agentskills")


@pytest.fixture
def it(tmp_path: Path) -> Linking:
    """Return a catalog of two published skills, one of them with a script."""
    made = Linking(tmp_path)
    write_skill(made.root / "a", files={"scripts/run.sh": "echo a\n", "references/x.md": "x"})
    (made.root / "a/scripts/run.sh").chmod(0o755)
    made.add("b")
    made.scan()
    return made


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and bytes of everything in a folder, by relative path; follow no link."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            b""
            if path.is_dir()
            else os.readlink(path).encode()
            if path.is_symlink()
            else path.read_bytes(),
        )
        for path in (folder, *folder.rglob("*"))
    }


def unlocked(folder: Path) -> Path:
    """Let files be added to a published folder."""
    folder.chmod(0o755)
    return folder


# Layout


def test_each_skill_is_a_plain_folder_with_all_its_files(it: Linking) -> None:
    """Without a link, read-only, with the modes of the author, and no file of a version."""
    version = (it.settings.packages_folder / "a/current").resolve()
    assert content(it.skills / "a") == content(version)
    found = content(it.skills / "a")
    assert {path: oct(mode) for path, (mode, _) in found.items()} == {
        ".": "0o40555",
        "SKILL.md": "0o100444",
        "references": "0o40555",
        "references/x.md": "0o100444",
        "scripts": "0o40555",
        "scripts/run.sh": "0o100555",
    }
    files = [
        path for path in it.settings.data.rglob("*") if path.is_file() and not path.is_symlink()
    ]
    assert {path.stat().st_nlink for path in files} == {1}
    assert not [path for path in it.skills.rglob("*") if path.is_symlink()]
    assert it.differences() == []


def test_a_folder_has_the_name_of_its_skill(it: Linking) -> None:
    """In Chinese, too; or else its skill_id, as for a skill of a plugin."""
    it.add("数据分析")
    write_skill(it.root / "odd", name="My Odd/Name")
    write_skill(it.root / "long", name="长" * 64)
    it.scan()
    assert set(names_in(it.skills)) == {"a", "b", "my-odd-name", "数据分析", "长" * 64}
    for name in ("a", "数据分析", "长" * 64):
        subprocess.run([AGENTSKILLS, "validate", it.skills / name], check=True)
    it.with_settings(roots=[{"path": it.root, "level": "plugin"}])
    write_skill(it.root / "office" / "skills" / "pdf")
    it.scan()
    assert "office--pdf" in names_in(it.skills)
    assert it.differences() == []


def test_of_names_that_differ_by_case_one_is_published(tmp_path: Path) -> None:
    """They compete for one skill_id, so no file system can mix them up."""
    it = Linking(tmp_path)
    write_skill(it.root / "one" / "PDF")
    write_skill(it.root / "two" / "pdf")
    it.scan()
    assert names_in(it.skills) == ["pdf"]


def test_only_skills_that_any_model_may_see_are_published_there(tmp_path: Path) -> None:
    """One that only users may start has a package alone."""
    it = Linking(tmp_path)
    write_skill(it.root / "command", more="disable-model-invocation: true")
    write_skill(it.root / "background", more="user-invocable: false")
    write_skill(it.root / "off", more="disable-model-invocation: true\nuser-invocable: false")
    it.scan()
    assert names_in(it.skills) == ["background"]
    assert names_in(it.settings.packages_folder) == ["background", "command", "off"]


def test_a_mount_of_the_folder_alone_is_readable(it: Linking, tmp_path: Path) -> None:
    """It is whole without packages, also where it is copied to."""
    shutil.copytree(it.skills, tmp_path / "mounted", symlinks=True)
    shutil.rmtree(it.settings.packages_folder)
    for name in ("a", "b"):
        assert (tmp_path / "mounted" / name / "SKILL.md").read_text() == (
            it.root / name / "SKILL.md"
        ).read_text()


def test_the_folders_follow_the_catalog(it: Linking) -> None:
    """New skills come, removed ones go, renamed ones change, and a new version is exchanged."""
    shutil.rmtree(it.root / "a")
    write_skill(it.root / "b", body="# Another\n")
    write_skill(it.root / "c", name="d")
    it.scan()
    assert names_in(it.skills) == ["b", "d"]
    assert "# Another" in (it.skills / "b" / "SKILL.md").read_text()
    assert it.differences() == []


def test_skills_are_placed_while_a_scan_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch is copied with its versions, so that not all copies are made at the end."""
    monkeypatch.setattr(change_batches, "BATCH", 1)
    it = Linking(tmp_path)
    it.add("a", "b")
    placed: list[list[str]] = []
    store = it.open()
    it.skills.mkdir()
    scan_once(it.settings, store, progress=lambda _: placed.append(names_in(it.skills)))
    store.close()
    assert [names for names in placed if len(names) == 1]
    assert placed[-1] == ["a", "b"]


def test_a_renamed_folder_without_a_name_gets_another_one(tmp_path: Path) -> None:
    """Another skill may take the earlier name."""
    it = Linking(tmp_path)
    nameless = {"SKILL.md": "---\ndescription: Has no name.\n---\n"}
    write_skill(it.root / "old", files=nameless)
    it.scan()
    (it.root / "old").rename(it.root / "new")
    it.scan()
    write_skill(it.root / "old", description="Is another.")
    it.scan()
    assert names_in(it.skills) == ["new", "old"]
    assert "Has no name" in (it.skills / "new" / "SKILL.md").read_text()
    assert "Is another" in (it.skills / "old" / "SKILL.md").read_text()


def test_a_removed_skill_stays_until_no_index_names_it(
    it: Linking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is written first, and its location leads to a file all the time."""
    shutil.rmtree(it.root / "a")

    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("catalog.prompt_index.files.write_whole", fails)
        with pytest.raises(CatalogUnusable, match="Input/output error"):
            it.scan()
    index = (it.settings.index_folder / "default.txt").read_text()
    assert Path(location_of(index, "a") or "").is_file()
    it.scan()
    assert names_in(it.skills) == ["b"]


def test_only_the_changed_skills_are_compared(tmp_path: Path) -> None:
    """One change costs the same among many skills, so other harm waits for the next full scan."""
    world = World(tmp_path)
    own = tmp_path / "skills"
    world.store.links.configure(own, [])
    for name in ("a", "b"):
        write_skill(world.root / name)
    world.scan()
    world.publish()
    shutil.rmtree(own / "b")
    write_skill(world.root / "c")
    shutil.rmtree(world.root / "a")
    world.look("a", "c")
    world.publish()
    assert names_in(own) == ["c"]
    world.store.links.check_all()
    world.publish()
    assert names_in(own) == ["b", "c"]


# Exchange


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_reader_by_path_always_finds_whole_files(
    it: Linking, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    """Each file is of one of the versions; where the system exchanges names, none is ever away."""
    if not exchanges:
        monkeypatch.setattr(operations, "_EXCHANGE", 1 << 30)  # which no system knows
    seen: set[bytes] = set()
    missed: list[OSError] = []
    has_ended = threading.Event()

    def read() -> None:
        while not has_ended.is_set():
            try:
                seen.add((it.skills / "b" / "notes.md").read_bytes())
            except OSError as error:
                missed.append(error)

    write_skill(it.root / "b", files={"notes.md": "0" * 100_000})
    it.scan()
    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(1, 6):
            write_skill(it.root / "b", files={"notes.md": f"{number}" * 100_000})
            it.scan()
            wait_for(partial(operator.contains, seen, f"{number}".encode() * 100_000))
    finally:
        has_ended.set()
        reader.join()
    assert seen <= {f"{number}".encode() * 100_000 for number in range(6)}
    assert not (exchanges and missed)
    assert names_in(it.skills) == ["a", "b"]


CALLS = {
    "stage": (staging, "stage"),
    "sync": (directory, "sync"),
    "exchange": (directory, "exchange_names"),
    "remove": (directory, "remove"),
    "rename": (directory.Entries, "_rename"),
    "record": (directory.Entries, "put"),
}


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("exchanges", [True, False])
def test_a_kill_at_any_step_leaves_whole_folders(
    it: Linking, monkeypatch: pytest.MonkeyPatch, call: str, nth: int, *, exchanges: bool
) -> None:
    """Each has all files of one version, and the next start does the rest."""
    if not exchanges:
        monkeypatch.setattr(operations, "_EXCHANGE", 1 << 30)  # which no system knows
    before = {name: content(it.skills / name) for name in ("a", "b")}
    write_skill(it.root / "a", description="Another.")
    shutil.rmtree(it.root / "b")
    it.add("c")
    if not (child := os.fork()):
        try:
            die(*CALLS[call], nth)
            it.scan()
            os._exit(0)
        finally:
            os._exit(1)  # even after an error, this process must not continue the tests
    _, code = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(code) in ((9,) if nth == 1 else (0, 9)) or (
        call == "exchange" or call == "rename"
    )
    if exchanges:
        for path in it.skills.glob("[!.]*"):
            version = (it.settings.packages_folder / path.name / "current").resolve()
            assert content(path) in (content(version), before.get(path.name))
        assert "a" in names_in(it.skills)
    it.scan()
    assert names_in(it.skills) == ["a", "c"]
    assert "Another." in (it.skills / "a/SKILL.md").read_text()
    assert it.differences() == []


def die(owner: object, name: str, nth: int) -> None:
    """Kill this process at the nth call of a function."""
    real: Callable[..., object] = getattr(owner, name)
    calls = iter(range(1, 1_000_000))

    def deadly(*args: object, **kwargs: object) -> object:
        if next(calls) >= nth:
            os._exit(9)
        return real(*args, **kwargs)

    setattr(owner, name, deadly)


def test_leftovers_of_a_crash_go_and_nothing_else(it: Linking) -> None:
    """Other names that begin with a dot belong to others."""
    for name in (".skilldrop-next-a", ".skilldrop-.skilldrop-next-b"):
        shutil.copytree(it.skills / "a", it.skills / name)
    for name in (".mine", ".skilldrop-next-of-mine"):
        (it.skills / name).mkdir()
    it.scan()
    assert names_in(it.skills) == [".mine", ".skilldrop-next-of-mine", "a", "b"]


# Entries of others


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling"])
def test_entries_of_others_stay_and_are_reported(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The skill is not there, its location leads to its package, and the others are placed."""
    it = Linking(tmp_path)
    it.add("xlsx")
    it.scan()
    mine = it.skills / "pdf"
    if kind == "file":
        mine.write_text("mine")
    elif kind == "folder":
        write_skill(mine, description="Mine.")
    else:
        (tmp_path / "own").mkdir()
        mine.symlink_to(tmp_path / ("own" if kind == "link" else "nowhere"))
    before = content(mine)
    it.add("pdf")
    it.scan()
    it.scan()
    assert content(mine) == before
    assert caplog.text.count("skills/pdf is unknown to this catalog") == 1
    assert it.differences() == ["pdf: skilldrop did not make it, so the skill is not there"]
    index = (it.settings.index_folder / "default.txt").read_text()
    assert location_of(index, "pdf") == f"{it.settings.packages_folder}/pdf/current/SKILL.md"
    store = it.open()
    (row,) = status.load(store.db)["links"]
    store.close()
    assert (row["taken"], row["linked"]) == (["pdf"], 1)
    if mine.is_dir() and not mine.is_symlink():
        shutil.rmtree(mine)
    else:
        mine.unlink()
    it.scan()
    assert names_in(it.skills) == ["pdf", "xlsx"]
    assert it.differences() == []


def test_a_folder_that_takes_the_name_just_now_stays(
    it: Linking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came after the name was found free, and also after a crash it is not taken for ours."""
    store = tables.store

    def taken(db: Any, place: Any, rows: Any, *gone: Any) -> None:
        store(db, place, rows, *gone)
        if not os.path.lexists(it.skills / "c") and any(row.name == "c" for row in rows):
            write_skill(it.skills / "c", description="Mine.")

    it.add("c")
    with monkeypatch.context() as patch:
        patch.setattr(tables, "store", taken)
        it.scan()
    it.scan()
    assert "Mine." in (it.skills / "c/SKILL.md").read_text()
    assert it.differences() == ["c: skilldrop did not make it, so the skill is not there"]


def test_a_foreign_file_stays_and_is_a_difference(it: Linking) -> None:
    """Nothing but published skills is removed there."""
    (it.skills / "notes.txt").write_text("mine")
    it.scan()
    assert (it.skills / "notes.txt").read_text() == "mine"
    assert it.differences() == ["notes.txt: no selected skill has this name"]


@pytest.mark.parametrize("is_absolute", [True, False])
def test_links_of_the_layout_before_are_replaced(it: Linking, *, is_absolute: bool) -> None:
    """They led to packages, by which they are known, also those of skills that left."""
    shutil.rmtree(it.skills / "a")
    packages = str(it.settings.packages_folder) if is_absolute else "../packages"
    for name in ("a", "gone"):
        (it.skills / name).symlink_to(f"{packages}/{name}/current")
    it.scan()
    assert links_in(it.skills) == {}
    assert names_in(it.skills) == ["a", "b"]
    assert it.differences() == []


def test_folders_of_a_lost_catalog_are_recognised(it: Linking) -> None:
    """They equal a version byte by byte; an edited one belongs to somebody else."""
    it.add("c", "d")
    it.scan()
    for file in it.settings.data.glob("catalog.db*"):
        file.unlink()
    (unlocked(it.skills / "c") / "mine.txt").write_text("mine")
    shutil.rmtree(it.root / "b")
    write_skill(it.root / "a", description="Another.")
    it.scan()
    assert names_in(it.skills) == ["a", "c", "d"]
    assert "Another." in (it.skills / "a/SKILL.md").read_text()
    assert (it.skills / "c/mine.txt").read_text() == "mine"
    assert it.differences() == ["c: skilldrop did not make it, so the skill is not there"]


# Damage


def edit(folder: Path) -> None:
    """Change a file, with the mode that it had."""
    (folder / "SKILL.md").chmod(0o644)
    (folder / "SKILL.md").write_text("edited")
    (folder / "SKILL.md").chmod(0o444)


def flip(folder: Path) -> None:
    """Change a file, but not its size."""
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text(text.swapcase())


DAMAGES: dict[str, Callable[[Path], object]] = {
    "edited": edit,
    "altered": flip,
    "added": lambda folder: (unlocked(folder) / "more.md").write_text("more"),
    "lost": lambda folder: (unlocked(folder) / "SKILL.md").unlink(),
    "mode": lambda folder: (folder / "SKILL.md").chmod(0o600),
    "linked": lambda folder: (unlocked(folder) / "out").symlink_to("/tmp"),
    "all lost": shutil.rmtree,
}


@pytest.mark.parametrize("harm", DAMAGES)
def test_an_edit_is_found_and_mended(it: Linking, harm: str) -> None:
    """`reconcile --check` reports it, and `reconcile` makes the folder again from its version."""
    before = content(it.skills / "a")
    DAMAGES[harm](it.skills / "a")
    assert any(each.startswith("a: it is not version ") for each in it.differences())
    reconcile.repair(it.settings)
    assert content(it.skills / "a") == before
    assert it.differences() == []


@pytest.mark.parametrize("harm", ["edited", "altered", "added"])
def test_verification_in_turns_mends_an_edit(it: Linking, harm: str) -> None:
    """The service hashes the copies with their versions; no seal or time hides an edit."""
    before = content(it.skills / "a")
    stat = (it.skills / "a/SKILL.md").stat()
    DAMAGES[harm](it.skills / "a")
    os.utime(it.skills / "a/SKILL.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    store = it.open()
    for _ in range(2):
        for _ in store.repair.verify(lambda: NOON):
            pass
    store.close()
    assert content(it.skills / "a") == before
    assert it.differences() == []


@pytest.mark.parametrize("harm", ["damaged", "lost"])
def test_a_damaged_version_is_mended_from_its_intact_copy(it: Linking, harm: str) -> None:
    """The folder of the root has changed since, so the bytes are nowhere else."""
    version = (it.settings.packages_folder / "a/current").resolve()
    before = content(version)
    store = it.open()
    write_skill(it.root / "a", description="Another.")
    if harm == "damaged":
        edit(version)
        for _ in store.repair.check(NOON, deep=True):
            pass
        store.close()
    else:
        store.close()
        shutil.rmtree(version)
        it.open().close()
    assert content(version) == before


def test_a_version_damaged_everywhere_is_withdrawn(
    it: Linking, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither its copy nor its root has its bytes, so agents get nothing that was not judged."""
    version = (it.settings.packages_folder / "a/current").resolve()
    edit(version)
    edit(it.skills / "a")
    write_skill(it.root / "a", description="Another.")
    store = it.open()
    for _ in store.repair.check(NOON, deep=True):
        pass
    publish(it.settings, store, NOON)
    store.close()
    assert "removed, because its files exist nowhere else" in caplog.text
    assert names_in(it.skills) == ["b"]
    it.scan()
    assert "Another." in (it.skills / "a/SKILL.md").read_text()
    assert it.differences() == []


# Bad folders


def make_link(skills: Path) -> None:
    """Replace the folder by a link to it."""
    skills.rename(skills.with_name("elsewhere"))
    skills.symlink_to("elsewhere")


def make_file(skills: Path) -> None:
    """Replace the folder by a file."""
    shutil.rmtree(skills)
    skills.write_text("mine")


def make_foreign(skills: Path) -> None:
    """Replace the folder by one of somebody else."""
    shutil.rmtree(skills)
    skills.mkdir()
    (skills / "mine").write_text("mine")


def make_another(skills: Path) -> None:
    """Give the folder to another catalog."""
    (skills / ".skilldrop").write_text("skilldrop skills another\n")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (make_link, "data/skills is a link, so no skill is placed there"),
        (make_file, "data/skills cannot be updated: Not a directory"),
        (make_foreign, "data/skills is not empty and has no marker"),
        (make_another, "data/skills belongs to another catalog"),
    ],
)
def test_a_bad_folder_is_told_and_stops_nothing_else(
    it: Linking, harm: Callable[[Path], None], message: str
) -> None:
    """The catalog and the links go on, the index stays, and the next scan recovers."""
    index = it.settings.index_folder / "default.txt"
    before = index.read_text()
    harm(it.skills)
    kept = content(it.skills.resolve())
    it.add("c")
    for _ in range(2):
        with pytest.raises(NotPlaced, match=message):
            it.scan()
    assert index.read_text() == before
    store = it.open()
    ((state,),) = store.db.execute("SELECT status FROM skills WHERE name = 'c'").fetchall()
    assert state == "active"
    (row,) = status.load(store.db)["links"]
    store.close()
    assert message in row["trouble"]
    assert content(it.skills.resolve()) == kept
    if it.skills.is_symlink() or it.skills.is_file():
        it.skills.unlink()
    else:
        shutil.rmtree(it.skills)
    it.scan()
    assert names_in(it.skills) == ["a", "b", "c"]
    assert "c:" in index.read_text()
    assert it.differences() == []


@pytest.mark.parametrize("code", [28, 30])
def test_a_full_or_read_only_folder_is_told(
    it: Linking, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """No half-made folder stays, and the former versions are readable meanwhile."""
    before = content(it.skills)

    def fails(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    write_skill(it.root / "a", description="Another.")
    with monkeypatch.context() as patch:
        patch.setattr(directory, "sync", fails)
        with pytest.raises(NotPlaced, match=os.strerror(code)):
            it.scan()
    assert content(it.skills) == before
    it.scan()
    assert it.differences() == []


def test_a_folder_on_another_file_system_is_as_good(tmp_path: Path) -> None:
    """Files are copied there, and exchanged within it."""
    elsewhere = folder_on_another(tmp_path)
    try:
        it = Linking(elsewhere, links=[{"path": tmp_path / "agent", "copy": True}])
        it.add("a")
        it.scan()
        write_skill(it.root / "a", description="Another.")
        it.scan()
        assert content(tmp_path / "agent/a") == content(it.skills / "a")
        assert it.differences() == []
    finally:
        subprocess.run(["chmod", "-R", "u+w", elsewhere], check=True)
        shutil.rmtree(elsewhere)


def test_an_unprivileged_user_publishes_as_well(tmp_path: Path) -> None:
    """Read-only folders are exchanged and removed; a folder without rights is told."""
    with without_rights.bound_by_permissions():
        it = Linking(tmp_path, links=[{"path": tmp_path / "agent", "copy": True}])
        it.add("a", "b")
        it.scan()
        write_skill(it.root / "a", description="Another.")
        shutil.rmtree(it.root / "b")
        it.scan()
        for folder in (it.skills, tmp_path / "agent"):
            assert names_in(folder) == ["a"]
            assert "Another." in (folder / "a/SKILL.md").read_text()
        edit(it.skills / "a")
        reconcile.repair(it.settings)
        assert it.differences() == []
        if os.geteuid():  # root owns the folder, and only capabilities were dropped
            return
        it.skills.chmod(0o555)
        write_skill(it.root / "a", description="A third.")
        with pytest.raises(NotPlaced, match="Permission denied"):
            it.scan()
        it.skills.chmod(0o755)
        it.scan()
        assert it.differences() == []


# Copies for agents


def test_copies_are_kept_up_to_date_among_foreign_entries(tmp_path: Path) -> None:
    """They are plain folders, exchanged whole; `unlink` removes them and nothing else."""
    agent = tmp_path / "agent"
    agent.mkdir()
    write_skill(agent / "pdf", description="Mine.")
    mine = content(agent / "pdf")
    it = Linking(tmp_path, links=[{"path": agent, "copy": True}])
    it.add("a", "b", "pdf")
    it.scan()
    write_skill(it.root / "a", description="Another.")
    shutil.rmtree(it.root / "b")
    it.scan()
    assert names_in(agent) == ["a", "pdf"]
    assert content(agent / "a") == content(it.skills / "a")
    assert content(agent / "pdf") == mine
    edit(agent / "a")
    assert [each.partition(" 2")[0] for each in it.differences()] == ["a: it is not version"]
    reconcile.repair(it.settings)
    assert content(agent / "a") == content(it.skills / "a")
    it.with_settings().scan()
    assert names_in(agent) == ["pdf"]
    assert content(agent / "pdf") == mine


def test_a_directory_changes_between_links_and_copies(tmp_path: Path) -> None:
    """Each entry is replaced in one step."""
    agent = tmp_path / "agent"
    it = Linking(tmp_path, links=[{"path": agent}])
    it.add("a")
    for copy in (False, True, False):
        it.with_settings(links=[{"path": agent, "copy": copy}]).scan()
        assert (agent / "a").is_symlink() is not copy
        assert names_in(agent) == ["a"]
        assert it.differences() == []


# In place


def test_in_place_nothing_is_published_but_skills_in_archives(tmp_path: Path) -> None:
    """The index names the folders of the root; a skill in an archive has none of its own."""
    from tests.support.made_archives import pack_zip

    it = Linking(tmp_path, publish="in-place")
    it.add("a")
    it.scan()
    index = it.settings.index_folder / "default.txt"
    assert location_of(index.read_text(), "a") == str(it.root / "a/SKILL.md")
    assert not it.skills.exists()
    assert not it.settings.packages_folder.exists()
    assert it.differences() == []
    write_skill(tmp_path / "packed/z")
    pack_zip(tmp_path / "packed", it.root / "pack.zip")
    it.scan()
    assert names_in(it.skills) == ["z"]
    assert location_of(index.read_text(), "z") == str(it.skills / "z/SKILL.md")
    assert it.differences() == []


def test_a_change_to_in_place_withdraws_what_was_published(it: Linking) -> None:
    """And back again."""
    it.with_settings(publish="in-place").scan()
    assert names_in(it.skills) == []
    assert it.differences() == []
    it.with_settings().scan()
    assert names_in(it.skills) == ["a", "b"]
    assert it.differences() == []


def test_in_place_links_are_refused(tmp_path: Path) -> None:
    """In the settings, with one sentence."""
    with pytest.raises(
        ValueError, match="publish = in-place, which publishes none; set publish to"
    ):
        Linking(tmp_path, publish="in-place", links=[{"path": tmp_path / "agent"}])

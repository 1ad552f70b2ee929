"""Copies of skills in a directory: only differences are written, and others' files stay."""

import json
import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from catalog.database import connection
from catalog.export import copied, folder
from catalog.export.copied import LOCK_FILE, CopiedSkill, selected
from catalog.export.folder import NEXT, Exported, export_to
from catalog.model.errors import NotPossible
from catalog.model.setting import EVERY, Selection
from catalog.prompt_index.files import write_whole
from tests.support.linking import Linking, names_in
from tests.support.skills import write_skill

KILLED = 9


def sources(it: Linking, selection: Selection = EVERY) -> list[CopiedSkill]:
    """Return the skills to copy; each can be."""
    db = connection.open_catalog(it.settings.catalog_path)
    found = list(selected(db, it.settings.packages_folder, selection))
    db.conn.close()
    return [source for source in found if isinstance(source, CopiedSkill)]


def exported(it: Linking, to: Path) -> Exported:
    """Scan, and export everything."""
    it.scan()
    return export_to(to, sources(it))


@pytest.fixture
def it(tmp_path: Path) -> Linking:
    """Return a catalog of two skills, one of which has a script."""
    it = Linking(tmp_path)
    write_skill(it.root / "pdf", files={"scripts/run.sh": "#!/bin/sh\n", "a.md": "A"})
    (it.root / "pdf" / "scripts" / "run.sh").chmod(0o755)
    write_skill(it.root / "数据")
    return it


def test_a_copy_has_the_bytes_and_bits_of_each_skill(it: Linking, tmp_path: Path) -> None:
    """And a lock file with name, version, digest and files."""
    to = tmp_path / "image" / "skills"
    result = exported(it, to)
    assert (result.added, result.failed) == (["pdf", "数据"], [])
    assert names_in(to) == ["pdf", "skilldrop.lock", "数据"]
    for file in (it.root / "pdf").rglob("*"):
        copy = to / file.relative_to(it.root)
        if file.is_file():
            assert copy.read_bytes() == file.read_bytes()
            assert copy.stat().st_mode & 0o777 == (0o755 if file.suffix == ".sh" else 0o644)
    lock = json.loads((to / LOCK_FILE).read_text("utf-8"))
    pdf = sources(it)[0].package
    assert list(lock) == ["lock_version", "skills"]
    assert [skill["folder"] for skill in lock["skills"]] == ["pdf", "数据"]
    assert lock["skills"][0] | {"files": None} == {
        "folder": "pdf",
        "name": "pdf",
        "version": pdf.version,
        "digest": pdf.digest,
        "files": None,
    }
    assert list(lock["skills"][0]["files"]) == ["SKILL.md", "a.md", "scripts/run.sh"]


def identity(path: Path) -> tuple[int, int, int]:
    """Return inode, mode and time of change; a new link to a file changes none of them."""
    stat = path.lstat()
    return stat.st_ino, stat.st_mode, stat.st_mtime_ns


def test_unchanged_files_are_not_touched(it: Linking, tmp_path: Path) -> None:
    """Neither in an unchanged skill nor in one with another changed file."""
    to = tmp_path / "to"
    exported(it, to)
    before = {path: identity(path) for path in to.rglob("*") if path.is_file()}
    assert exported(it, to).unchanged == ["pdf", "数据"]
    assert {path: identity(path) for path in before} == before
    (it.root / "pdf" / "a.md").write_text("B")
    assert exported(it, to).updated == ["pdf"]
    assert (to / "pdf" / "a.md").read_text() == "B"
    others = [path for path in before if path.name not in ("a.md", "skilldrop.lock")]
    assert {path: identity(path) for path in others} == {path: before[path] for path in others}


def test_removed_and_renamed_skills_go(it: Linking, tmp_path: Path) -> None:
    """So do the files that a new version no longer has."""
    to = tmp_path / "to"
    exported(it, to)
    shutil.rmtree(it.root / "数据")
    (it.root / "pdf" / "a.md").unlink()
    exported(it, to)
    assert names_in(to) == ["pdf", "skilldrop.lock"]
    assert names_in(to / "pdf") == ["SKILL.md", "scripts"]
    write_skill(it.root / "pdf", name="pdf2")
    result = exported(it, to)
    assert (result.added, result.removed) == (["pdf2"], ["pdf"])
    assert names_in(to) == ["pdf2", "skilldrop.lock"]


def test_files_of_others_stay(it: Linking, tmp_path: Path) -> None:
    """Beside the skills, under the name of one, and inside one, whether it changes or goes."""
    to = tmp_path / "to"
    write_skill(to / "数据", description="Is mine.")
    (to / "notes").mkdir()
    assert exported(it, to).taken == ["数据"]
    (to / "pdf" / "scripts" / "__pycache__").mkdir()
    cache = to / "pdf" / "scripts" / "__pycache__" / "run.pyc"
    cache.write_bytes(b"cached")
    (to / "pdf" / "link").symlink_to(tmp_path)
    inode = cache.stat().st_ino
    (it.root / "pdf" / "a.md").write_text("B")
    assert exported(it, to).updated == ["pdf"]
    assert (cache.stat().st_ino, (to / "pdf" / "a.md").read_text()) == (inode, "B")
    assert (to / "pdf" / "link").is_symlink()
    shutil.rmtree(it.root / "pdf")
    result = exported(it, to)
    assert (result.removed, result.left) == (["pdf"], ["pdf"])
    assert sorted(path.name for path in (to / "pdf").rglob("*")) == [
        "__pycache__",
        "link",
        "run.pyc",
        "scripts",
    ]
    assert "Is mine" in (to / "数据" / "SKILL.md").read_text()
    assert it.root.exists()


def test_folders_of_others_stay_as_they_are(it: Linking, tmp_path: Path) -> None:
    """Empty ones and their modes, too; an empty folder that had our files goes."""
    to = tmp_path / "to"
    exported(it, to)
    (to / "pdf" / ".git" / "refs").mkdir(parents=True)
    (to / "pdf" / ".git").chmod(0o500)
    shutil.rmtree(it.root / "pdf" / "scripts")
    assert exported(it, to).updated == ["pdf"]
    assert names_in(to / "pdf") == [".git", "SKILL.md", "a.md"]
    assert names_in(to / "pdf" / ".git") == ["refs"]
    assert (to / "pdf" / ".git").stat().st_mode & 0o777 == 0o500


@pytest.mark.parametrize(
    ("mine", "new"),
    [("b.md", "b.md"), ("more/b.md", "more"), ("more", "more/b.md"), ("scripts/b", "scripts/b/c")],
)
def test_a_file_in_the_way_of_a_new_one_is_not_overwritten(
    it: Linking, tmp_path: Path, mine: str, new: str
) -> None:
    """The copy keeps its last version, and the message names the file, until it is moved away."""
    to = tmp_path / "to"
    exported(it, to)
    (to / "pdf" / mine).parent.mkdir(exist_ok=True)
    (to / "pdf" / mine).write_text("mine")
    (it.root / "pdf" / new).parent.mkdir(exist_ok=True)
    (it.root / "pdf" / new).write_text("new")
    (it.root / "pdf" / "a.md").write_text("B")
    result = exported(it, to)
    assert [failure.folder for failure in result.failed] == ["pdf"]
    assert "was not written by an export; move it away." in result.failed[0].reason
    assert ((to / "pdf" / mine).read_text(), (to / "pdf" / "a.md").read_text()) == ("mine", "A")
    (to / "pdf" / mine).unlink()
    with suppress(OSError):  # an empty folder is in the way, too
        (to / "pdf" / mine).parent.rmdir()
    result = exported(it, to)
    assert (result.updated, result.failed) == (["pdf"], [])
    assert (to / "pdf" / new).read_text() == "new"


@pytest.mark.parametrize("is_new", [True, False])
def test_an_entry_that_takes_a_name_during_the_export_stays(
    it: Linking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    """The skills are built first, which may take long."""
    to = tmp_path / "to"
    if not is_new:
        exported(it, to)
        (it.root / "pdf" / "a.md").write_text("B")
    it.scan()

    def slow(folder: int, files: dict[str, bytes]) -> set[str]:
        if not (to / "pdf").is_file():
            shutil.rmtree(to / "pdf", ignore_errors=True)
            (to / "pdf").write_text("mine")
        return write_whole(folder, files)

    monkeypatch.setattr("catalog.export.folder.write_whole", slow)
    result = export_to(to, sources(it))
    assert (result.taken, result.updated) == (["pdf"], [])
    assert (to / "pdf").read_text() == "mine"
    monkeypatch.undo()
    assert export_to(to, sources(it)).taken == ["pdf"]
    assert (to / "pdf").read_text() == "mine"


def test_the_folder_of_a_catalog_is_refused(it: Linking, tmp_path: Path) -> None:
    """That catalog would take the copies for damage."""
    (tmp_path / "other").mkdir()
    other = Linking(tmp_path / "other")
    other.scan()
    it.scan()
    with pytest.raises(OSError, match="belongs to a catalog of skilldrop"):
        export_to(other.skills, sources(it))


def test_a_second_export_to_the_same_place_is_refused(it: Linking, tmp_path: Path) -> None:
    """While the first one works; the progress of it is a moment in its middle."""
    it.scan()
    messages: list[str] = []

    def again(_: int) -> None:
        with pytest.raises(NotPossible) as caught:
            export_to(tmp_path / "to", sources(it))
        messages.append(str(caught.value))

    assert export_to(tmp_path / "to", sources(it), again).added == ["pdf", "数据"]
    assert len(messages) == 2
    assert all("Another export" in message for message in messages)


@pytest.mark.parametrize("harm", ["edited", "lost", "mode", "link"])
def test_a_harmed_copy_is_repaired(it: Linking, tmp_path: Path, harm: str) -> None:
    """The files are compared, not the lock file alone."""
    to = tmp_path / "to"
    exported(it, to)
    script = to / "pdf" / "scripts" / "run.sh"
    if harm == "edited":
        script.write_text("rm -rf /")
    elif harm == "mode":
        script.chmod(0o644)
    else:
        script.unlink()
        if harm == "link":
            script.symlink_to(it.root / "pdf" / "scripts" / "run.sh")
    assert exported(it, to).updated == ["pdf"]
    assert not script.is_symlink()
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("#!/bin/sh\n", 0o755)


@pytest.mark.parametrize(
    ("call", "moment"),
    [
        ("linked", 1),  # while the new version is built
        ("write_whole", 1),  # before the first change
        ("exchange_names", 1),
        ("remove", 2),  # after the last change
        ("write_whole", 2),
    ],
)
def test_after_a_kill_each_skill_is_whole(
    it: Linking, tmp_path: Path, call: str, moment: int
) -> None:
    """It is the old or the new one; the next export ends the work, and takes all for its own."""
    to = tmp_path / "to"
    exported(it, to)
    (it.root / "pdf" / "a.md").write_text("B")
    (it.root / "pdf" / "b.md").write_text("B")
    (it.root / "pdf" / "scripts" / "run.sh").unlink()
    shutil.rmtree(it.root / "数据")
    it.add("xlsx")
    it.scan()
    if not (child := os.fork()):
        try:
            die_at(call, moment)
            export_to(to, sources(it))
        finally:
            os._exit(1)  # this process must not continue the tests
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
    present = sorted(str(path.relative_to(to / "pdf")) for path in (to / "pdf").rglob("*.*"))
    old = ["SKILL.md", "a.md", "scripts/run.sh"]
    assert present in (old, ["SKILL.md", "a.md", "b.md"])
    assert (to / "pdf" / "a.md").read_text() == ("A" if present == old else "B")
    result = export_to(to, sources(it))
    assert (result.taken, result.failed, result.left) == ([], [], [])
    assert names_in(to) == ["pdf", "skilldrop.lock", "xlsx"]
    assert names_in(to / "pdf") == ["SKILL.md", "a.md", "b.md"]
    assert NEXT not in os.listdir(to)
    lock = json.loads((to / LOCK_FILE).read_text("utf-8"))
    assert list(lock["skills"][0]["files"]) == ["SKILL.md", "a.md", "b.md"]


def die_at(call: str, moment: int) -> None:
    """Let this process end at a certain call of an export, as if it were killed there."""
    real, calls = getattr(folder, call), count(1)

    def at_last(*arguments: Any, **options: Any) -> Any:
        return os._exit(KILLED) if next(calls) >= moment else real(*arguments, **options)

    setattr(folder, call, at_last)


EVIL = '{{"lock_version": 1, "skills": [{{"folder": "{}", "name": "", "version": "", '
EVIL += '"digest": "", "files": {{"{}": ""}}}}]}}'


@pytest.mark.parametrize(
    "lock",
    [
        "",
        "[]",
        '{"lock_version": 2, "skills": []}',
        EVIL.format("..", "mine"),
        EVIL.format("a", "../../mine"),
        EVIL.format("/etc", "passwd"),
        EVIL.format("a", "/etc/passwd"),
        "[" * 200_000,
        "\0" * 100,
    ],
    ids=[
        *("empty", "list", "newer", "folder above", "file above", "absolute folder"),
        *("absolute file", "nested", "binary"),
    ],
)
def test_a_lock_file_that_cannot_be_trusted_stops_the_export(
    it: Linking, tmp_path: Path, lock: str
) -> None:
    """Nothing is changed, since nobody knows which files are ours."""
    to = tmp_path / "to"
    to.mkdir()
    (to / LOCK_FILE).write_text(lock)
    it.scan()
    with pytest.raises(NotPossible, match="is not a lock file of an export"):
        export_to(to, sources(it))
    assert names_in(to) == [LOCK_FILE]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "huge"])
def test_a_lock_file_that_is_none_stops_the_export(
    it: Linking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It is neither waited for, nor followed, nor read as a whole."""
    to, lock = tmp_path / "to", tmp_path / "to" / LOCK_FILE
    to.mkdir()
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "link":
        lock.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text('{"lock_version": 1, "skills": []}')
    elif kind == "folder":
        lock.mkdir()
    else:
        monkeypatch.setattr(copied, "MOST_LOCK_BYTES", 10)
        lock.write_text('{"lock_version": 1, "skills": []}')
    it.scan()
    with pytest.raises(NotPossible, match="is not a"):
        export_to(to, sources(it))
    assert names_in(to) == [LOCK_FILE]


def test_a_file_that_differs_from_the_catalog_is_not_copied(it: Linking, tmp_path: Path) -> None:
    """The copy keeps its last good version, and the failure is told."""
    to = tmp_path / "to"
    exported(it, to)
    write_skill(it.root / "pdf", body="# New\n")
    it.scan()
    harmed = it.settings.packages_folder / "pdf" / "current" / "SKILL.md"
    harmed.chmod(0o644)
    harmed.write_text("harmed")
    result = export_to(to, sources(it))
    assert [failure.folder for failure in result.failed] == ["pdf"]
    assert "# A skill" in (to / "pdf" / "SKILL.md").read_text()
    assert names_in(to) == ["pdf", "skilldrop.lock", "数据"]

"""Copies of skills in a directory: only differences are written, and others' files stay."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.database import connection
from catalog.export import lock_file
from catalog.export.folder import NEXT, Exported, export_to
from catalog.export.selected import Source, selected
from catalog.model.errors import NotExported
from catalog.model.selection import EVERY, Selection
from tests.support.linking import Linking, names_in
from tests.support.skills import write_skill

KILLED = 9
DYING_EXPORT = """
import os, sys
from catalog.export import folder
from pipeline.cli.app import cli

call, moment, *words = sys.argv[1:]
real, calls = getattr(folder, call), []

def at_last(*arguments, **options):
    calls.append(arguments)
    return os._exit(9) if len(calls) >= int(moment) else real(*arguments, **options)

setattr(folder, call, at_last)
cli.main(words, standalone_mode=False)
"""
"""Program that exports, and ends at a certain call as if it were killed there."""


def sources(it: Linking, selection: Selection = EVERY) -> list[Source]:
    """Return the skills to copy; each can be."""
    db = connection.open_catalog(it.settings.catalog_path)
    found = list(selected(db, it.settings.packages_folder, selection))
    db.conn.close()
    return [source for source in found if isinstance(source, Source)]


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
    lock = json.loads((to / lock_file.NAME).read_text("utf-8"))
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


def test_unchanged_files_are_not_touched(it: Linking, tmp_path: Path) -> None:
    """Neither in an unchanged skill nor in one with another changed file."""
    to = tmp_path / "to"
    exported(it, to)
    before = {path: path.lstat() for path in to.rglob("*") if path.is_file()}
    assert exported(it, to).unchanged == ["pdf", "数据"]
    assert {path: path.lstat() for path in before} == before
    (it.root / "pdf" / "a.md").write_text("B")
    assert exported(it, to).updated == ["pdf"]
    assert (to / "pdf" / "a.md").read_text() == "B"
    others = [path for path in before if path.name not in ("a.md", "skilldrop.lock")]
    assert {path: path.lstat() for path in others} == {path: before[path] for path in others}


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
        ("_linked", 1),  # while the new version is built
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
    options = ["--watched", str(it.root), "--data", str(it.settings.data)]
    done = subprocess.run(
        [sys.executable, "-c", DYING_EXPORT, call, str(moment), *options, "export", str(to)]
    )
    assert done.returncode == KILLED
    present = sorted(str(path.relative_to(to / "pdf")) for path in (to / "pdf").rglob("*.*"))
    old = ["SKILL.md", "a.md", "scripts/run.sh"]
    assert present in (old, ["SKILL.md", "a.md", "b.md"])
    assert (to / "pdf" / "a.md").read_text() == ("A" if present == old else "B")
    result = export_to(to, sources(it))
    assert (result.taken, result.failed, result.left) == ([], [], [])
    assert names_in(to) == ["pdf", "skilldrop.lock", "xlsx"]
    assert names_in(to / "pdf") == ["SKILL.md", "a.md", "b.md"]
    assert NEXT not in os.listdir(to)
    assert "unfinished" not in (to / lock_file.NAME).read_text("utf-8")


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
    ],
    ids=["empty", "list", "newer", "folder above", "file above"],
)
def test_a_lock_file_that_cannot_be_trusted_stops_the_export(
    it: Linking, tmp_path: Path, lock: str
) -> None:
    """Nothing is changed, since nobody knows which files are ours."""
    to = tmp_path / "to"
    to.mkdir()
    (to / lock_file.NAME).write_text(lock)
    it.scan()
    with pytest.raises(NotExported, match="is not a lock file of an export"):
        export_to(to, sources(it))
    assert names_in(to) == [lock_file.NAME]


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

"""Copies of the published skills in a directory: whole, equal to the catalog, and repeatable."""

import json
import shutil
from pathlib import Path

import pytest

from catalog.database import connection
from catalog.export.published_skills import PublishedSkills
from catalog.model.setting import EVERY
from catalog.pull.folder import Folder, NotPossible, Pulled
from catalog.pull.site import LOCK_FILE
from tests.support.linking import Linking, names_in
from tests.support.skills import write_skill


@pytest.fixture
def it(tmp_path: Path) -> Linking:
    """Return a catalog of two skills, one of which has a script."""
    it = Linking(tmp_path)
    write_skill(it.root / "pdf", files={"scripts/run.sh": "#!/bin/sh\n", "a.md": "A"})
    (it.root / "pdf" / "scripts" / "run.sh").chmod(0o755)
    write_skill(it.root / "数据")
    return it


def exported(it: Linking, to: Path) -> Pulled:
    """Scan, and export everything; nobody agrees to great changes."""
    it.scan()
    db = connection.open_catalog(it.settings.catalog_path)
    source = PublishedSkills(db, it.settings.packages_folder, EVERY)
    result = Folder(to).pull(source, "", lambda _: False, lambda *_: None)
    db.conn.close()
    return result


def test_a_copy_has_the_bytes_and_bits_of_each_skill(it: Linking, tmp_path: Path) -> None:
    """And a lock file with version, digest and files, even of names that are not UTF-8."""
    (it.root / "pdf" / "caf\udce9.txt").write_text("x")
    to = tmp_path / "to"
    assert exported(it, to).added == ["pdf", "数据"]
    assert names_in(to) == [".skilldrop-lock", "pdf", LOCK_FILE, "数据"]
    script = to / "pdf" / "scripts" / "run.sh"
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("#!/bin/sh\n", 0o755)
    assert (to / "pdf" / "caf\udce9.txt").read_text() == "x"
    pdf, data = json.loads((to / LOCK_FILE).read_text("utf-8"))["skills"]
    assert (pdf["folder"], data["folder"]) == ("pdf", "数据")
    assert pdf["digest"].startswith("sha256:")
    assert len(pdf["files"]) == 4
    assert exported(it, to).unchanged == ["pdf", "数据"]


def test_a_second_export_writes_only_the_differences(it: Linking, tmp_path: Path) -> None:
    """Skills that are gone go, and so do the files that a new version no longer has."""
    to = tmp_path / "to"
    write_skill(it.root / "xlsx")
    exported(it, to)
    before = (to / "数据" / "SKILL.md").lstat().st_ctime_ns
    shutil.rmtree(it.root / "xlsx")
    (it.root / "pdf" / "a.md").unlink()
    result = exported(it, to)
    assert (result.updated, result.unchanged, result.removed) == (["pdf"], ["数据"], ["xlsx"])
    assert names_in(to / "pdf") == ["SKILL.md", "scripts"]
    assert (to / "数据" / "SKILL.md").lstat().st_ctime_ns == before


def test_what_somebody_made_or_edited_stays(it: Linking, tmp_path: Path) -> None:
    """A folder of others, and one of ours with another file; both are told."""
    to = tmp_path / "to"
    write_skill(to / "数据", description="Is mine.")
    assert exported(it, to).taken == ["数据"]
    (to / "pdf" / "notes.md").write_text("Mine.")
    (it.root / "pdf" / "a.md").write_text("B")
    result = exported(it, to)
    assert (result.edited, result.is_whole) == (["pdf"], False)
    assert (to / "pdf" / "a.md").read_text() == "A"
    assert "Is mine" in (to / "数据" / "SKILL.md").read_text()


def test_a_file_that_differs_from_the_catalog_is_not_copied(it: Linking, tmp_path: Path) -> None:
    """The copy keeps its last good version, and the failure is told."""
    to = tmp_path / "to"
    exported(it, to)
    write_skill(it.root / "pdf", body="# New\n")
    it.scan()
    harmed = it.settings.packages_folder / "pdf" / "current" / "SKILL.md"
    harmed.chmod(0o644)
    harmed.write_text("harmed")
    db = connection.open_catalog(it.settings.catalog_path)
    source = PublishedSkills(db, it.settings.packages_folder, EVERY)
    result = Folder(to).pull(source, "", lambda _: False, lambda *_: None)
    db.conn.close()
    assert list(result.failed) == ["pdf"]
    assert "# A skill" in (to / "pdf" / "SKILL.md").read_text()


def test_the_folder_of_a_catalog_is_refused(it: Linking, tmp_path: Path) -> None:
    """That catalog would take the copies for damage."""
    (tmp_path / "other").mkdir()
    other = Linking(tmp_path / "other")
    other.scan()
    with pytest.raises(NotPossible, match="belongs to a catalog of skilldrop"):
        exported(it, other.skills)

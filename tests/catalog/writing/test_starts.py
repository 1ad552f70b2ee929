"""Starts that find damage to packages and copies, which no event reports."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kept_catalogs import Kept
from tests.support.skills import SkillWriter


@pytest.fixture
def kept(tmp_path: Path, skill: SkillWriter) -> Kept:
    """Scan two skills, one of them with two versions."""
    made = Kept(tmp_path)
    skill(made.root / "a")
    skill(made.root / "b")
    made.scan()
    (made.root / "a/notes.md").write_text("More.\n")
    made.scan()
    return made


def unlocked(folder: Path) -> Path:
    """Make a folder of skilldrop writable, as its owner can."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o700)
    return folder


def current_of(kept: Kept) -> Path:
    """Return the link to the current version of the skill with two."""
    return kept.settings.packages_folder / "a/current"


def remove_skill(kept: Kept) -> None:
    """Remove all versions of a skill."""
    shutil.rmtree(unlocked(kept.settings.packages_folder / "a"))


def remove_version(kept: Kept) -> None:
    """Remove the version of the other skill."""
    shutil.rmtree(unlocked(kept.published("b")))


def remove_current(kept: Kept) -> None:
    """Remove the link to the current version."""
    current_of(kept).unlink()


def turn_current(kept: Kept) -> None:
    """Let the link lead to the older version."""
    current = current_of(kept)
    older = min(path.name for path in current.parent.iterdir() if not path.is_symlink())
    current.unlink()
    current.symlink_to(older)


def add_version(kept: Kept) -> None:
    """Add an empty folder with the name of a version."""
    (kept.settings.packages_folder / "a/20200101-000000").mkdir()


def remove_copy(kept: Kept) -> None:
    """Remove the folder that agents read."""
    shutil.rmtree(unlocked(kept.settings.skills_folder / "a"))


def remove_file_of_copy(kept: Kept) -> None:
    """Remove a file that agents read."""
    (unlocked(kept.settings.skills_folder / "a") / "notes.md").unlink()


def restore_time(kept: Kept) -> None:
    """Remove the link to the current version, and give its directory its former time."""
    directory = current_of(kept).parent
    stat = directory.stat()
    remove_current(kept)
    os.utime(directory, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(
    "damage",
    [
        remove_skill,
        remove_version,
        remove_current,
        turn_current,
        add_version,
        remove_copy,
        remove_file_of_copy,
        restore_time,
    ],
)
def test_damage_is_repaired_by_the_next_start(kept: Kept, damage: Callable[[Kept], None]) -> None:
    """A start compares every package and every copy with the catalog."""
    damage(kept)
    kept.scan()
    assert list(kept.compare().differences) == []
    for name in ("a", "b"):
        text = (kept.settings.skills_folder / name / "SKILL.md").read_text()
        assert text == (kept.root / name / "SKILL.md").read_text()

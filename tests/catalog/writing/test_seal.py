"""Starts that trust the seal of the last writer, and those that must compare everything."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.database.lock import lock_of
from catalog.writing import repair
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import compare
from pipeline.service.run_once import scan_once
from tests.support.skills import SkillWriter


class Sealed:
    """A catalog of two skills that was closed with a seal."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.settings = Settings(
            watched=self.root, data=folder / "data", settle_quiet=0, site={"enabled": False}
        )
        self.packages = self.settings.packages_folder

    @property
    def is_sealed(self) -> bool:
        """Whether the last writer left a seal."""
        return "sealed" in lock_of(self.settings.catalog_path).read_text()

    def scan(self, **settings: object) -> None:
        """Bring the catalog up to the root in a new writer."""
        options = self.settings.model_copy(update=settings)
        store = open_store(options)
        scan_once(options, store)
        store.close()


@pytest.fixture
def kept(tmp_path: Path, skill: SkillWriter) -> Sealed:
    """Scan two skills, one of them with two versions, until a start has nothing to repair."""
    sealed = Sealed(tmp_path)
    skill(sealed.root / "a")
    skill(sealed.root / "b")
    sealed.scan()
    (sealed.root / "a" / "notes.md").write_text("More.\n")
    sealed.scan()
    sealed.scan()
    assert sealed.is_sealed
    return sealed


def test_a_start_after_a_sealed_close_compares_no_package(
    kept: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stat of each directory is enough where nothing has changed."""
    listed: list[Path] = []
    monkeypatch.setattr(repair, "list_packages", listed.append)
    kept.scan()
    assert (listed, kept.is_sealed) == ([], True)


def _unlock(folder: Path) -> Path:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o700)
    return folder


def _remove_skill(kept: Sealed) -> None:
    shutil.rmtree(_unlock(kept.packages / "a"))


def _remove_version(kept: Sealed) -> None:
    shutil.rmtree(_unlock(kept.packages / "b" / "current").resolve())


def _remove_current(kept: Sealed) -> None:
    (kept.packages / "a" / "current").unlink()


def _turn_current(kept: Sealed) -> None:
    current = kept.packages / "a" / "current"
    older = min(path.name for path in current.parent.iterdir() if not path.is_symlink())
    current.unlink()
    current.symlink_to(older)


def _add_version(kept: Sealed) -> None:
    (kept.packages / "a" / "20200101-000000").mkdir()


def _remove_copy(kept: Sealed) -> None:
    shutil.rmtree(_unlock(kept.settings.skills_folder / "a"))


def _remove_file_of_copy(kept: Sealed) -> None:
    (_unlock(kept.settings.skills_folder / "a") / "notes.md").unlink()


def _replace_by_old_link(kept: Sealed) -> None:
    _remove_copy(kept)
    (kept.settings.skills_folder / "a").symlink_to("../packages/a/current")


def _restore_time(kept: Sealed) -> None:
    stat = (kept.packages / "a").stat()
    _remove_current(kept)
    os.utime(kept.packages / "a", ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(
    "damage",
    [
        _remove_skill,
        _remove_version,
        _remove_current,
        _turn_current,
        _add_version,
        _remove_copy,
        _remove_file_of_copy,
        _replace_by_old_link,
        _restore_time,
    ],
)
def test_damage_after_a_sealed_close_is_repaired_by_the_next_start(
    kept: Sealed, damage: Callable[[Sealed], None]
) -> None:
    """A seal never hides a package or a link that somebody changed, removed or added."""
    damage(kept)
    kept.scan()
    assert list(compare(kept.settings).differences) == []
    for name in ("a", "b"):
        text = (kept.settings.skills_folder / name / "SKILL.md").read_text()
        assert text == (kept.root / name / "SKILL.md").read_text()
    kept.scan()
    assert kept.is_sealed


def test_a_killed_writer_leaves_no_seal(kept: Sealed) -> None:
    """Its changes may have been under way, so the seal is gone while a writer is at work."""
    store = open_store(kept.settings)
    assert not kept.is_sealed
    store.close()
    assert kept.is_sealed


def test_other_settings_break_a_seal(kept: Sealed) -> None:
    """Packages that are right under some settings may be wrong under others."""
    kept.scan(publish="in-place")
    folder = kept.settings.skills_folder / "a"
    assert not folder.exists()
    kept.scan()
    assert folder.is_dir()
    assert list(compare(kept.settings).differences) == []

"""Scans that know unchanged folders by their stats: nothing is listed, and no change is missed."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.config.root_settings import RootSettings
from pipeline.config.settings import Settings
from pipeline.roots.local import folder as local_folder
from pipeline.roots.local.directory import Listing
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import compare
from pipeline.service.run_once import Result, scan_once
from pipeline.service.scanning import engines
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope
from tests.support.scanning import scan_units
from tests.support.skills import SkillWriter


class Watched:
    """Roots and their catalog, scanned by commands."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.roots = [folder / name for name in names]
        self.root = self.roots[0]
        self.settings = Settings(
            roots=tuple(RootSettings(path=root) for root in self.roots),
            data=folder / "data",
            settle_quiet=0,
            site={"enabled": False},
        )

    def scan(self, engine: Engine = serial) -> Result:
        """Bring the catalog up to the root."""
        store = open_store(self.settings)
        try:
            return scan_once(self.settings, store, engine=engine)
        finally:
            store.close()

    def cached(self, root: Path | None = None) -> set[str]:
        """Return the paths of a root's folders whose stats are stored."""
        store = open_store(self.settings)
        try:
            return set(store.skills.known(str(root or self.root)).stats)
        finally:
            store.close()


@pytest.fixture
def known(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Watched]:
    """Return a function that makes roots of two groups and a catalog that has compared them."""
    monkeypatch.setattr(local_folder, "MARGIN_NS", 0)
    monkeypatch.setattr(reconcile, "RETRY_AFTER", 0.0)

    def make(*names: str) -> Watched:
        made = Watched(tmp_path, *names)
        for root in made.roots:
            skill(root / "group/a", files={"scripts/run.sh": "echo 1\n", "assets/one.txt": "1"})
            (root / "group/a/empty").mkdir()
            skill(root / "group/b")
            skill(root / "c", files={"notes.txt": "n"})
        made.scan()
        made.scan()
        for root in made.roots:
            assert made.cached(root) == {"group/a", "group/b", "c"}
        _let_the_clock_tick(tmp_path)
        return made

    return make


@pytest.fixture
def watched(known: Callable[..., Watched]) -> Watched:
    """Return a catalog whose only root has been compared once."""
    return known("root")


def _let_the_clock_tick(folder: Path) -> None:
    """Return when a new file gets another time stamp than the last one."""
    probe = folder / "probe"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.chmod(0o600)
    probe.unlink()


def test_folders_that_have_not_changed_are_not_listed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the directories that hold skill folders are."""
    listed = []

    def listing(tree: RootDirectory, path: str, only: str | None = None) -> Listing:
        listed.append(path)
        return real(tree, path, only)

    real = RootDirectory.listing
    monkeypatch.setattr(RootDirectory, "listing", listing)
    assert watched.scan().report.outcomes["unchanged"] == 3
    assert sorted(listed) == ["", "/group"]


def _rewrite(root: Path) -> None:
    script = root / "group/a/scripts/run.sh"
    before = script.stat()
    script.write_text("echo 2\n")
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))


def _exchange(root: Path) -> None:
    (root / "group/a/scripts").rename(root / "old")
    shutil.copytree(root / "old", root / "group/a/scripts")
    (root / "group/a/scripts/run.sh").write_text("echo 3\n")
    shutil.rmtree(root / "old")


def _link_directory(root: Path) -> None:
    (root / "group/a/scripts").rename(root / "elsewhere")
    (root / "group/a/scripts").symlink_to("../../elsewhere")


def _link_group(root: Path) -> None:
    (root / "group").rename(root / "moved")
    (root / "group").symlink_to("moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "other bytes of the same size and time": _rewrite,
    "file in an empty directory": lambda root: (root / "group/a/empty/new.md").write_text("x"),
    "removed file": lambda root: (root / "group/a/assets/one.txt").unlink(),
    "renamed file": lambda root: (root / "group/a/assets/one.txt").rename(
        root / "group/a/assets/two.txt"
    ),
    "script that may run": lambda root: (root / "group/a/scripts/run.sh").chmod(0o755),
    "exchanged directory": _exchange,
    "link to a directory": _link_directory,
    "dangling link": lambda root: (root / "group/a/dangling").symlink_to("nothing"),
    "hard link from outside": lambda root: os.link(root / "c/SKILL.md", root / "other.txt"),
    "pipe": lambda root: os.mkfifo(root / "group/a/assets/pipe"),
    "junk": lambda root: (root / "group/a/.DS_Store").write_text(""),
    "skill inside": lambda root: shutil.copytree(root / "c", root / "group/a/inner"),
    "removed SKILL.md": lambda root: (root / "group/a/SKILL.md").unlink(),
    "SKILL.md above": lambda root: shutil.copy(root / "c/SKILL.md", root / "group"),
    "SKILL.md above in a rare spelling": lambda root: shutil.copy(
        root / "c/SKILL.md", root / "group/sKILL.Md"
    ),
    "ignore file in it": lambda root: (root / "c/.skillignore").write_text("*.txt\n"),
    "ignore file in the root": lambda root: (root / ".skillignore").write_text("*.txt\n"),
    "ignore file for it": lambda root: (root / "group/.gitignore").write_text("/a\n"),
    "removed folder": lambda root: shutil.rmtree(root / "group/b"),
    "renamed folder": lambda root: (root / "group/b").rename(root / "group/d"),
    "renamed group": lambda root: (root / "group").rename(root / "other"),
    "link in place of the group": _link_group,
    "new folder": lambda root: shutil.copytree(root / "c", root / "group/e"),
}


def by_path(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult]:
    """Judge each folder by its path, as worker processes do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "FOLDERS_IN_A_PIECE", 1)
        yield from filter(None, engines.if_worth_it(scope, options, lambda _: iter(())))


@pytest.mark.parametrize("engine", [serial, by_path])
def test_every_change_of_a_known_folder_is_found(
    known: Callable[..., Watched], engine: Engine
) -> None:
    """After the next scan, the catalog equals the roots, each of which has changed in one way."""
    watched = known(*CHANGES)
    for change, root in zip(CHANGES.values(), watched.roots, strict=True):
        change(root)
    watched.scan(engine)
    assert not compare(watched.settings).differences


def test_a_known_folder_behind_a_new_link_is_another(watched: Watched) -> None:
    """Its path leads there through a link now, though its own stats are the same."""
    _link_group(watched.root)
    store = open_store(watched.settings)
    report = scan_units(store, watched.settings.root_specs, "group/a")
    store.close()
    assert report.outcomes["unchanged"] == 0


def test_lower_limits_count_for_known_folders(watched: Watched) -> None:
    """The stats of a folder were compared under the limits of their time."""
    limits = replace(watched.settings.limits, files=1)
    watched.settings = watched.settings.model_copy(update={"limits": limits})
    result = watched.scan()
    assert result.counts["rejected"] == 0 < result.report.outcomes["rejected"]


def test_a_change_behind_a_link_is_found(watched: Watched, skill: SkillWriter) -> None:
    """It leaves no trace in the folder."""
    (watched.root / "target.md").write_text("1")
    skill(watched.root / "group/l")
    (watched.root / "group/l/linked.md").symlink_to("../../target.md")
    watched.scan()
    watched.scan()
    assert "group/l" not in watched.cached()
    (watched.root / "target.md").write_text("2")
    assert watched.scan().report.outcomes["updated"] == 1


def test_the_stats_of_a_folder_that_has_just_changed_are_not_stored(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """A second change may have the same time stamp."""
    fresh = Watched(tmp_path, "root")
    skill(fresh.root / "a")
    fresh.scan()
    assert fresh.scan().report.outcomes["unchanged"] == 1
    assert fresh.cached() == set()

"""Skill folders that are read a second time, to make packages of them."""

import math
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from catalog.model.errors import CatalogUnusable, NotAsJudged
from pipeline.roots.archives import reader as archives
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder
from pipeline.service import open_catalog
from pipeline.service.scanning import change_batches
from tests.support.made_archives import pack_zip
from tests.support.packages import World
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the archives that are opened, as they are."""
    opened: list[str] = []

    @contextmanager
    def counted(archive: Archive) -> Iterator[list[Folder]]:
        opened.append(Path(archive.file).name)
        with open_archive(archive) as found:
            yield found

    for module in (open_catalog, archives):
        monkeypatch.setattr(module, "open_archive", counted)
    return opened


def test_a_folder_of_a_catalog_is_no_data_directory(tmp_path: Path, skill: SkillWriter) -> None:
    """Nothing is made in it."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "a")
    shelf.scan()
    for folder in (shelf.packages, shelf.settings.index_folder):
        before = sorted(folder.iterdir())
        with pytest.raises(CatalogUnusable, match="it belongs to a catalog of skilldrop"):
            open_catalog.open_store(shelf.settings.model_copy(update={"data": folder}))
        assert sorted(folder.iterdir()) == before


def test_only_files_inside_the_root_are_opened(tmp_path: Path, skill: SkillWriter) -> None:
    """A path that now leads elsewhere is refused, whatever its target."""
    skill(tmp_path / "root/a", files={"x.txt": "x"})
    (tmp_path / "secret").write_text("x")
    with open_catalog.package_sources() as files_of:
        files = files_of(str(tmp_path / "root"), "a")
        (tmp_path / "root/a/x.txt").unlink()
        (tmp_path / "root/a/x.txt").symlink_to(tmp_path / "secret")
        with pytest.raises(OSError, match="leads out of the root"):
            files("x.txt")
        with pytest.raises(FileNotFoundError):
            files("../secret")


def test_only_regular_files_are_read(tmp_path: Path, skill: SkillWriter) -> None:
    """A pipe in the place of a file would block, or be read without end."""
    skill(tmp_path / "root/a")
    os.mkfifo(tmp_path / "root/a/pipe")
    with open_catalog.package_sources() as files_of:
        files = files_of(str(tmp_path / "root"), "a")
        for name in ("pipe", "."):
            with pytest.raises(OSError, match="no longer a regular file"):
                files(name)


def test_a_root_that_is_a_link_is_read_at_its_target(tmp_path: Path, skill: SkillWriter) -> None:
    """Links inside it are followed, as when the skill was judged."""
    skill(tmp_path / "real/a", files={"x.txt": "x"})
    (tmp_path / "real/a/y.txt").symlink_to("x.txt")
    (tmp_path / "root").symlink_to("real")
    with open_catalog.package_sources() as files_of:
        with closing(files_of(str(tmp_path / "root"), "a")("y.txt")) as file:
            assert file.read(9) == b"x"
        (tmp_path / "root").unlink()
        with pytest.raises(NotAsJudged):
            files_of(str(tmp_path / "root"), "a")


def test_a_batch_opens_each_archive_once(
    tmp_path: Path, skill: SkillWriter, openings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once to scan it, and once for the packages of all its skills."""
    monkeypatch.setattr(change_batches, "PAUSE", math.inf)  # one batch, however slow the machine is
    world = World(tmp_path)
    for number in range(12):
        skill(tmp_path / f"pack-{number % 2}/skill-{number:02}", files={"x.txt": str(number)})
    for number in range(2):
        pack_zip(tmp_path / f"pack-{number}", world.root / f"pack-{number}.zip")
    assert world.scan().outcomes == {"added": 12}
    assert sorted(openings) == ["pack-0.zip"] * 2 + ["pack-1.zip"] * 2
    assert (world.current("skill-11") / "x.txt").read_text() == "11"
    assert world.differences() == []
    world.store.close()


def test_a_replaced_archive_is_opened_again(
    tmp_path: Path, skill: SkillWriter, openings: list[str]
) -> None:
    """The new content is read; a skill that it lacks is no skill any more."""
    root = str(tmp_path / "root")
    for name, text in (("a", "one"), ("b", "one"), ("c", "one")):
        skill(tmp_path / f"skills/{name}", files={"x.txt": text})
    (tmp_path / "root").mkdir()
    pack_zip(tmp_path / "skills", tmp_path / "root/pack.zip")
    with open_catalog.package_sources() as files_of:
        for name in ("a", "b"):
            assert files_of(root, f"pack.zip!/skills/{name}")("x.txt").read(9) == b"one"
        (tmp_path / "skills/a/x.txt").write_text("other")
        os.rename(tmp_path / "skills/c", tmp_path / "c")
        pack_zip(tmp_path / "skills", tmp_path / "new.zip")
        os.rename(tmp_path / "new.zip", tmp_path / "root/pack.zip")
        assert files_of(root, "pack.zip!/skills/a")("x.txt").read(9) == b"other"
        with pytest.raises(NotAsJudged, match="c is no longer a skill folder"):
            files_of(root, "pack.zip!/skills/c")
        (tmp_path / "root/pack.zip").unlink()
        with pytest.raises(NotAsJudged, match="a is no longer a skill folder"):
            files_of(root, "pack.zip!/skills/a")
    assert openings == ["pack.zip", "pack.zip"]

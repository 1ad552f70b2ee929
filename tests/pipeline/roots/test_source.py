"""Roots through the source interface, as scans and packages read them."""

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from catalog.model.errors import RootUnreadable
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits, LooseFinding
from pipeline.roots.source import can_list, open_source

TEXT = "---\nname: a\ndescription: Use it.\n---\n"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Return a root with a skill folder, an archive and a dangling link."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/SKILL.md").write_text(TEXT)
    with ZipFile(tmp_path / "b.zip", "w") as packed:
        packed.writestr("b/SKILL.md", TEXT)
    (tmp_path / "link").symlink_to("nowhere")
    return str(tmp_path)


def test_a_walk_finds_folders_archives_and_loose_findings(root: str) -> None:
    """Each can be read further through the same source."""
    with open_source(root, Limits()) as source:
        loose, archive, folder = source.walk("")
        assert isinstance(folder, Folder)
        assert isinstance(archive, Archive)
        assert isinstance(loose, LooseFinding)
        assert source.folder("a") == folder
        assert source.archive("b.zip!/b") == archive
        snapshot = source.read(folder)
        assert snapshot
        assert snapshot.skill_md == TEXT.encode()
        with open_archive(archive) as folders:
            assert [packed.path for packed in folders] == ["b.zip!/b"]
            assert source.read(folders[0])


def test_the_entry_at_a_path_is_that_of_the_walk(root: str) -> None:
    """A worker asks for it by its path."""
    with open_source(root, Limits()) as source:
        assert [source.at(found.path) for found in source.walk("")] == list(source.walk(""))
        assert source.at("nowhere") is None


def test_a_file_is_opened_only_inside_the_root(root: str, tmp_path: Path) -> None:
    """A package is made of these files."""
    (tmp_path / "a/out").symlink_to("/etc/hostname")
    with open_source(root, Limits()) as source:
        descriptor = source.open_file("a/SKILL.md")
        assert os.read(descriptor, 3) == b"---"
        os.close(descriptor)
        with pytest.raises(OSError, match="leads out of the root"):
            source.open_file("a/out")


def test_a_root_that_is_renamed_away_is_no_longer_in_place(root: str, tmp_path: Path) -> None:
    """An open source stays open; a new one cannot be opened."""
    with open_source(root, Limits()) as source:
        assert source.is_in_place()
        assert can_list(root)
        tmp_path.rename(tmp_path.with_name("away"))
        assert not source.is_in_place()
        assert not can_list(root)
    with pytest.raises(RootUnreadable), open_source(root, Limits()):
        pass

"""Index files, published whole."""

import json
from pathlib import Path

import pytest

from catalog import index_files
from catalog.prompt_index import IndexSpec, PromptIndex


def test_an_index_is_written_with_its_report_beside_it(tmp_path: Path) -> None:
    """Agents of other users may read both."""
    folder = tmp_path / "index"
    assert index_files.publish_index(folder, IndexSpec(), PromptIndex("text", ()), {"full": 0})
    assert (folder / "default.xml").read_text() == "text"
    assert json.loads((folder / "default.meta.json").read_text()) == {"full": 0}
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o644, 0o644]


def test_the_same_bytes_are_not_written_again(tmp_path: Path) -> None:
    """A file whose content stands keeps its inode, so caches of it stay valid."""
    path = tmp_path / "file"
    assert index_files.write_whole(path, b"a")
    inode = path.stat().st_ino
    assert not index_files.write_whole(path, b"a")
    assert path.stat().st_ino == inode
    assert index_files.write_whole(path, b"b")
    assert path.stat().st_ino != inode


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody ever reads half a file."""
    path = tmp_path / "file"
    index_files.write_whole(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        index_files.write_whole(path, b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"old")]


def test_files_of_indexes_that_are_no_longer_configured_are_removed(tmp_path: Path) -> None:
    """Nothing of ours that no index names is left to be fetched; other files stay."""
    for name in ("old", "default"):
        index_files.publish_index(tmp_path, IndexSpec(name), PromptIndex("text", ()), {})
    (tmp_path / "notes.txt").write_text("mine")
    index_files.remove_index_files(tmp_path, [IndexSpec("default")])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "default.meta.json", "default.xml", "notes.txt"]

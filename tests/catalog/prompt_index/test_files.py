"""Index files, published whole."""

import json
from pathlib import Path

import pytest

from catalog.filesystem.operations import directory
from catalog.prompt_index import files as prompt_index_files
from catalog.prompt_index.builder import PromptIndex
from catalog.prompt_index.spec import IndexSpec

REPORT = {"sha256": "0", "published_at": "never"}


def write_whole(folder: Path, files: dict[str, bytes]) -> set[str]:
    """Write files into a folder."""
    folder.mkdir(exist_ok=True)
    with directory(folder) as at:
        return prompt_index_files.write_whole(at, files)


def publish(folder: Path, name: str = "default") -> set[str]:
    """Publish an index."""
    return write_whole(
        folder, prompt_index_files.files_of(IndexSpec(name), PromptIndex("text", ()), REPORT)
    )


@pytest.mark.requirement("prd/index-prebuilt")
def test_an_index_is_written_with_its_report_beside_it(tmp_path: Path) -> None:
    """Agents of other users may read both."""
    folder = tmp_path / "index"
    assert publish(folder) == {"default.txt", "default.meta.json"}
    assert (folder / "default.txt").read_text() == "text"
    assert json.loads((folder / "default.meta.json").read_text()) == REPORT
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o644, 0o644]


def test_the_same_bytes_are_not_written_again(tmp_path: Path) -> None:
    """A file with unchanged content keeps its inode, so caches of it stay valid."""
    path = tmp_path / "file"
    assert write_whole(tmp_path, {"file": b"a", "other": b"o"}) == {"file", "other"}
    inode = path.stat().st_ino
    assert not write_whole(tmp_path, {"file": b"a"})
    assert path.stat().st_ino == inode
    assert write_whole(tmp_path, {"file": b"b", "other": b"o"}) == {"file"}
    assert path.stat().st_ino != inode


def test_all_files_are_on_the_disk_before_one_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sync is enough for all files, and none is needed without changes."""
    waits: list[dict[str, bytes]] = []

    def sync(_: int) -> None:
        waits.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})

    monkeypatch.setattr(prompt_index_files, "sync", sync)
    write_whole(tmp_path, {"a": b"old", "b": b"old"})
    assert [sorted(each.values()) for each in waits] == [[b"old", b"old"]]
    write_whole(tmp_path, {"a": b"new", "b": b"new"})
    assert sorted(waits[1].values()) == [b"new", b"new", b"old", b"old"]
    write_whole(tmp_path, {"a": b"new", "b": b"new"})
    assert len(waits) == 2


@pytest.mark.parametrize("where", ["os.fchmod", "sync", "os.replace"])
def test_a_write_that_fails_leaves_the_old_files_and_no_other(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No reader ever gets half a file."""
    write_whole(tmp_path, {"a": b"old", "b": b"old"})

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"catalog.prompt_index.files.{where}", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path, {"a": b"new", "b": b"new"})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"old", "b": b"old"}


def test_files_of_indexes_that_are_no_longer_configured_are_removed(tmp_path: Path) -> None:
    """No file of an unconfigured index can be fetched; other files stay.

    What has the name of a report and says nothing of an index is another file.
    """
    for name in ("old", "default"):
        publish(tmp_path, name)
    for name in ("notes.txt", "notes.meta.json", "notes.xml"):
        (tmp_path / name).write_text("{}")
    with directory(tmp_path) as at:
        prompt_index_files.remove_index_files(at, [IndexSpec("default")])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "default.meta.json",
        "default.txt",
        "notes.meta.json",
        "notes.txt",
        "notes.xml",
    ]

"""Files opened below a directory, and what is not opened."""

import os
from pathlib import Path

import pytest

from catalog.filesystem.operations import open_file
from catalog.model.errors import PathRefused


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a directory with a file two folders down, and a secret beside it."""
    (tmp_path / "top/a/b").mkdir(parents=True)
    (tmp_path / "top/a/b/file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return tmp_path / "top"


def test_a_regular_file_is_opened(top: Path) -> None:
    """By folders and a path, however they share the way."""
    for folders, path in (((), "a/b/file"), (("a",), "b/file"), (("a", "b"), "file")):
        with open_file(str(top), folders, path) as file:
            assert file.read() == b"inside"


@pytest.mark.parametrize(
    ("folders", "path"),
    [
        ((), "../secret"),
        (("..",), "secret"),
        (("a", ".."), "a/b/file"),
        ((), "a/./b/file"),
        ((), "a//b/file"),
        ((), "/a/b/file"),
        ((), ""),
        ((), "a/b/"),
        (("a/b",), "file"),
        ((), "a/b/file\0"),
        ((), "a"),
        ((), "a/b/file/x"),
        (("",), "secret"),
    ],
)
def test_every_part_of_a_path_is_a_plain_name(
    top: Path, folders: tuple[str, ...], path: str
) -> None:
    """Neither dots, slashes in names nor NULs; and each but the last is a directory."""
    with pytest.raises(PathRefused):
        open_file(str(top), folders, path)


def test_no_link_is_followed_on_the_way(top: Path) -> None:
    """But the top itself, which the operator chose, may be behind one."""
    (top / "a/link").symlink_to("b")
    (top / "a/b/out").symlink_to(top.parent / "secret")
    for path in ("a/link/file", "a/b/out"):
        with pytest.raises(PathRefused, match="is a link or a special file"):
            open_file(str(top), (), path)
    (top.parent / "alias").symlink_to(top)
    open_file(str(top.parent / "alias"), (), "a/b/file").close()


def test_what_is_missing_is_an_error_of_the_system(top: Path) -> None:
    """The caller knows what a missing file means."""
    with pytest.raises(FileNotFoundError):
        open_file(str(top), (), "a/x/file")


def test_no_descriptor_is_left_open(top: Path) -> None:
    """Whether the file was opened or refused."""
    (top / "a/b/out").symlink_to("file")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        open_file(str(top), (), "a/b/file").close()
        for path in ("a/b/out", "a/x", "a", ".."):
            with pytest.raises((PathRefused, FileNotFoundError)):
                open_file(str(top), (), path)
    assert len(os.listdir("/proc/self/fd")) == before

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.roots.local.files import is_text, open_expected, read_head
from pipeline.roots.local.root_directory import RootDirectory


@pytest.fixture
def root(tmp_path: Path) -> Iterator[RootDirectory]:
    """Return the open directory of the file."""
    with RootDirectory(str(tmp_path)) as opened_root:
        yield opened_root


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of ten bytes."""
    (tmp_path / "file").write_bytes(b"0123456789")
    return tmp_path / "file"


@pytest.mark.parametrize(("most", "head"), [(4, b"0123"), (10, b"0123456789"), (99, b"0123456789")])
def test_at_most_the_requested_bytes_are_read(
    root: RootDirectory, file: Path, most: int, head: bytes
) -> None:
    """Or the whole file, if it is shorter."""
    assert read_head(root, "/file", file.stat(), most) == head


def test_only_the_file_of_the_walk_is_read(root: RootDirectory, file: Path) -> None:
    """Not another file or a link in its place, and not the file after a change."""
    seen = file.stat()
    file.rename(file.with_name("moved"))
    file.write_bytes(b"0123456789")
    with pytest.raises(OSError, match="changed since the walk"):
        open_expected(root, "/file", seen)
    os.truncate(file.with_name("moved"), 3)
    with pytest.raises(OSError, match="changed since the walk"):
        read_head(root, "/moved", seen, 10)


def test_a_pipe_is_not_waited_for(root: RootDirectory, tmp_path: Path) -> None:
    """It has no writer, and is not a regular file."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="changed since the walk"):
        open_expected(root, "/pipe", (tmp_path / "pipe").stat())


def test_no_descriptor_is_left_open(root: RootDirectory, file: Path) -> None:
    """Whether the file was read or rejected."""
    seen = file.stat()
    before = len(os.listdir("/proc/self/fd"))
    read_head(root, "/file", seen, 3)
    file.write_bytes(b"other")
    with pytest.raises(OSError, match="changed"):
        read_head(root, "/file", seen, 3)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("head", "whole", "text"),
    [
        (b"", True, True),
        (b"caf\xc3\xa9", True, True),
        (b"caf\xc3", True, False),
        (b"caf\xc3", False, True),
        (b"a\0b", True, False),
        (b"\xff", False, False),
    ],
)
def test_text_is_utf8_without_nul(head: bytes, whole: bool, text: bool) -> None:
    """At the end of a partial read, a character may be cut."""
    assert is_text(head, whole=whole) == text

"""Pages of files, which split no character."""

import base64
import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.reading.files.paging import Page, line_start, read_page


def pages(data: bytes, limit: int) -> list[Page]:
    """Return all pages of a file, from its first to its last byte."""
    found = [read_page(io.BytesIO(data), 0, limit, len(data))]
    while (at := found[-1].next_offset) is not None:
        found.append(read_page(io.BytesIO(data), at, limit, len(data)))
        assert found[-1].offset == at
    return found


@given(text=st.text(alphabet="ab\n\r字🙂é", max_size=60), limit=st.integers(1, 20))
def test_pages_of_text_joined_are_the_text(text: str, limit: int) -> None:
    """Pages of any size end between characters, and no text is lost or doubled."""
    data = text.encode()
    found = pages(data, limit)
    assert "".join(page.text for page in found) == text
    assert all(page.text for page in found) or not text
    assert all(len(page.text.encode()) <= max(limit, 4) for page in found)
    assert {page.sha256 for page in found} == {hashlib.sha256(data).hexdigest()}


@given(data=st.binary(min_size=1, max_size=60), limit=st.integers(1, 20))
def test_pages_of_a_binary_can_be_joined_as_base64(data: bytes, limit: int) -> None:
    """Each but the last holds a multiple of three bytes."""
    data += b"\0"
    found = pages(data, limit)
    assert {page.encoding for page in found} == {"base64"}
    assert base64.b64decode("".join(page.text for page in found)) == data


@given(text=st.text(alphabet="a字🙂", min_size=1, max_size=20), offset=st.integers(0, 40))
def test_an_offset_inside_a_character_is_moved_to_its_start(text: str, offset: int) -> None:
    """A page never begins with half a character."""
    data = text.encode()
    page = read_page(io.BytesIO(data), min(offset, len(data)), None, len(data))
    assert data[page.offset :].decode() == page.text
    assert 0 <= min(offset, len(data)) - page.offset < 4


@pytest.mark.parametrize(
    ("data", "limit", "first", "rest"),
    [
        (b"one\ntwo\nthree\n", 9, "one\ntwo\n", 8),  # the last line end in the second half
        (b"one\n" + b"x" * 90, 60, "one\n" + "x" * 56, 60),  # not one so early
        (b"one\r\ntwo", 5, "one\r\n", 5),
        ("字字字".encode(), 4, "字", 3),
        ("字字字".encode(), 1, "字", 3),  # never less than one character
        (b"\xef\xbb\xbfBOM", 2, "", 3),  # nothing of a BOM is text
    ],
)
def test_a_page_ends_after_a_line_or_a_character(
    data: bytes, limit: int, first: str, rest: int
) -> None:
    """A line end in its second half is preferred."""
    page = read_page(io.BytesIO(data), 0, limit, len(data))
    assert (page.text, page.next_offset) == (first, rest)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        ("字".encode(), "utf-8"),
        (b"\xef\xbb\xbfwith a BOM", "utf-8-sig"),
        (b"\xff\xfea\0", "base64"),
        (b"a\0b", "base64"),
        ("字".encode()[:2], "base64"),
        (b"x" * (2**20 - 1) + "字".encode(), "utf-8"),  # across the seam of two reads
        (b"x" * 2**20 + b"\xff", "base64"),  # far behind the page
    ],
)
def test_the_encoding_is_that_of_the_whole_file(data: bytes, encoding: str) -> None:
    """All pages of a file have one encoding, whatever the first one contains."""
    assert read_page(io.BytesIO(data), 0, 10, len(data)).encoding == encoding


def test_a_file_that_grew_is_not_read_to_its_end() -> None:
    """One byte more than expected is enough."""
    file = io.BytesIO(b"x" * 10_000)
    assert read_page(file, 0, None, 10).size == 11
    assert file.tell() == 11


@given(st.text(st.sampled_from("aé中\n"), max_size=60), st.integers(0, 200), st.integers(1, 40))
def test_a_page_knows_its_line_and_column(text: str, offset: int, limit: int) -> None:
    """They count the line feeds and characters before the page, for any page size."""
    data = text.encode()
    page = read_page(io.BytesIO(data), min(offset, len(data)), limit, len(data))
    before = data[: page.offset].decode()
    assert page.line == before.count("\n") + 1
    assert page.column == len(before) - before.rfind("\n") - 1
    assert page.lines == len(text.splitlines())


@given(st.text(st.sampled_from("aé\n"), max_size=40), st.integers(1, 30))
def test_a_line_is_found_by_its_number(text: str, line: int) -> None:
    """It starts after as many line feeds as there are lines before it."""
    starts = [0, *(at + 1 for at, byte in enumerate(text.encode()) if byte == ord("\n"))]
    assert line_start(io.BytesIO(text.encode()), line) == starts[min(line, len(starts)) - 1]

"""File names as text."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.paths import is_utf8, linked, os_path, text_path


@given(name=st.binary(max_size=20))
def test_every_name_has_one_text_and_comes_back_from_it(name: bytes) -> None:
    """A name of any bytes becomes text that can be stored and decoded."""
    system = os.fsdecode(name)
    text = text_path(system)
    assert os_path(text.encode().decode()) == system


@pytest.mark.parametrize(
    ("name", "text", "valid"),
    [
        (b"plain/name.md", "plain/name.md", True),
        ("读我.md".encode(), "读我.md", True),
        (rb"a\b", r"a\\b", True),
        (b"caf\xe9", r"caf\xe9", False),
        (rb"caf\xe9", r"caf\\xe9", True),
    ],
)
def test_only_bytes_that_are_not_text_are_escaped(name: bytes, text: str, valid: bool) -> None:
    """A backslash is doubled; an invalid byte becomes hexadecimal."""
    system = os.fsdecode(name)
    assert (text_path(system), is_utf8(system)) == (text, valid)


@pytest.mark.parametrize(
    ("file", "target", "path"),
    [
        ("SKILL.md", "references/a.md", "references/a.md"),
        ("references/a.md", "b.md", "references/b.md"),
        ("references/a.md", "./../scripts//run.py", "scripts/run.py"),
        ("references/a.md", "../../other/SKILL.md", "../other/SKILL.md"),
        ("/root/pdf/SKILL.md", "../other", "/root/other"),
        ("a/", ".", "a"),
        ("SKILL.md", "..", ".."),
    ],
)
def test_a_link_starts_in_the_folder_of_its_file(file: str, target: str, path: str) -> None:
    """The result starts where the path of the file does, and has no `.` inside."""
    assert linked(file, target) == path

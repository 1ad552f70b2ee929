import time

import pytest

from pipeline.parsing.markdown import (
    LONGEST_HEADING,
    MOST_BLOCKS,
    blocks_of,
    first_paragraph,
    headings,
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("# One\n## Two ##\n", ("One", "Two"), id="ATX, with and without closing"),
        pytest.param("   # In three\n    # In four\n", ("In three",), id="four spaces are code"),
        pytest.param("#No space\n####### Seven\n#\n", (), id="not headings"),
        pytest.param("# C#\n# Hash \\#\n", ("C#", "Hash \\#"), id="a hash that is text"),
        pytest.param("# 标题\r\n# Two\r\n", ("标题", "Two"), id="CRLF"),
        pytest.param("Title\n===\n\nSub\n---\n", ("Title", "Sub"), id="setext"),
        pytest.param("text\n\n---\n", (), id="a rule after a blank line"),
        pytest.param("- item\n---\n| a |\n---\n", (), id="a rule after a list or a table"),
        pytest.param("two lines\nof text\n---\n", (), id="a paragraph is no heading"),
        pytest.param("---\n# A\n", ("A",), id="a rule on the first line"),
        pytest.param("```sh\n# no\n```\n# yes\n", ("yes",), id="backtick fence"),
        pytest.param("~~~\n# no\n```\n# no\n~~~\n# yes\n", ("yes",), id="tilde fence"),
        pytest.param("````\n```\n# no\n````\n# yes\n", ("yes",), id="a longer fence holds"),
        pytest.param("```\n    ```\n# no\n```\n# yes\n", ("yes",), id="four spaces close nothing"),
        pytest.param("``` a ``` b\n# yes\n", ("yes",), id="a code span is no fence"),
        pytest.param("```\n# no\n", (), id="a fence that is never closed"),
        pytest.param("<!-- a\n# no\n-->\n# yes\n", ("yes",), id="HTML comment"),
        pytest.param("<!-- a -->\n# yes\n", ("yes",), id="HTML comment of one line"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_headings(body: str, expected: tuple[str, ...]) -> None:
    """Headings follow CommonMark, outside code and comments."""
    assert headings(body, blocks_of(body)) == expected


def test_headings_are_bounded() -> None:
    """The number and the length of headings are limited."""
    assert headings("# a\n" * 500, []) == ("a",) * 200
    assert headings("# " + "x" * 5_000, []) == ("x" * LONGEST_HEADING,)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("# A\n\nDoes this\nand that.\n\nMore.\n", "Does this and that.", id="plain"),
        pytest.param("Title\n===\nText.\n", "Text.", id="after a setext heading"),
        pytest.param("- a\n- b\n\n> q\n\n| t |\n\nText.\n", "Text.", id="lists, quotes, tables"),
        pytest.param("```\ncode\n```\nText.\n", "Text.", id="after code"),
        pytest.param("Text.\n```\ncode\n```\nMore.\n", "Text.", id="before code"),
        pytest.param("<!-- note\ninside -->\nText.\n", "Text.", id="after a comment"),
        pytest.param("![logo](x.png)\n\n***\n\nText.\n", "Text.", id="images and rules"),
        pytest.param("    code\n\nText.\n", "Text.", id="indented code"),
        pytest.param("`pdf` reads  PDF.\n# B\n", "`pdf` reads PDF.", id="up to a heading"),
        pytest.param("# Only\n\n- this\n", "", id="none"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_first_paragraph(body: str, expected: str) -> None:
    """The first paragraph is the first run of prose, on one line."""
    assert first_paragraph(body) == expected


@pytest.mark.parametrize(
    "line",
    [
        "# " + " #" * 500_000,
        "#" * 1_000_000,
        "`" * 1_000_000,
        "<!--" * 250_000,
        "# a" + " " * 1_000_000 + "b",
        "-" * 999_999 + "a",
    ],
    ids=["closing", "hashes", "ticks", "comments", "spaces", "underline"],
)
def test_no_line_can_take_long(line: str) -> None:
    """The longest line of one kind takes time in proportion to its length."""
    start = time.process_time()
    body = f"text\n{line}\n"
    headings(body, blocks_of(body))
    first_paragraph(body)
    assert time.process_time() - start < 1


def test_more_blocks_than_any_text_has_are_ordinary_text() -> None:
    """Fences beyond the limit hide nothing from the rules."""
    blocks = blocks_of("```\n```\n" * (MOST_BLOCKS + 5))
    assert len(blocks) == MOST_BLOCKS


def test_underlines_beyond_the_limit_are_not_looked_at() -> None:
    """Lines that only resemble headings take a bounded time."""
    assert headings("a\n=\n" * MOST_BLOCKS + "\n# Last\n", ()) == ("a",)

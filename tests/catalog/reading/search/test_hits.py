"""Snippets around a match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.reading.search.hits import LENGTH, Words, excerpt

MARKS = ("[", "]")


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("Reads an invoice.", "invoice", "Reads an [invoice]."),
        ("Reads an invoice.", "INVO*", "Reads an [invoice]."),
        ("Reads an invoice.", "invoices", "Reads an [invoice]."),
        ("Counting is done.", "counts", "[Counting] is done."),
        ("Reads an invoice as PDF.", "pdf invoice", "Reads an [invoice] as [PDF]."),
        ("把会议录音整理成纪要。", "录音", "把会议[录音]整理成纪要。"),
        ("把会议录音整理成纪要。", "会议 纪要", "把[会议]录音整理成[纪要]。"),
        ("Two\n  lines of  it", "lines", "Two [lines] of it"),
        ("Nothing of that.", "invoice", None),
        ("Anything.", "( * [", None),
        ("Each élan.", "élan", "Each [élan]."),
        ("Servers serve a series.", "series", "Servers serve a [series]."),
        ("Oriented at run_series.", "orientation series", "[Oriented] at run_[series]."),
        ("# Steps\n\nThe **needle**.\n\n- Thread", "needle", "The [needle]."),
        ("1. See [the `needle`](a.md)\n2. Stop", "needle", "See the [needle]"),
        (
            "Run:\n```bash\nneedle * \\\n  --out x.png\n```\n## End",
            "needle",
            "[needle] * --out x.png",
        ),
        ("a.b*c", "b*", "a.[b]*c"),
    ],
)
def test_matches_are_marked(text: str, words: str, shown: str | None) -> None:
    """Beginnings and words of one stem, in a paragraph or item without its Markdown."""
    assert excerpt([text], Words(words), MARKS) == shown


def test_a_long_text_is_cut_around_it() -> None:
    """At spaces, with dots where something is missing."""
    found = excerpt(["word " * 500 + "needle " + "word " * 500], Words("needle"), MARKS)
    assert found
    assert found.startswith("…word ")
    assert "[needle]" in found
    assert found.endswith(" word…")
    assert len(found) < LENGTH + 10


def test_marks_in_the_text_are_removed() -> None:
    """A text cannot forge invisible marks."""
    needle = Words("needle")
    assert excerpt(["a \ue000needle"], needle, ("\ue000", "\ue001")) == "a \ue000needle\ue001"


@given(st.text(), st.text())
def test_no_text_or_query_raises(text: str, words: str) -> None:
    """Both are arbitrary."""
    excerpt([text], Words(words), MARKS)

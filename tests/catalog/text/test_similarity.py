"""Similarity of texts, by the pieces that they share."""

import re

import pytest

from catalog.text.similarity import FEWEST, pieces_of, similarity
from tests.support.bodies import edited, made_body


def of(one: str, other: str) -> float:
    """Return the similarity of two texts."""
    return similarity(pieces_of(one), pieces_of(other))


def true_similarity(one: str, other: str) -> float:
    """Return the similarity of two texts by their runs of three words."""
    first, second = (
        set(zip(words, words[1:], words[2:], strict=False))
        for words in (re.findall(r"\w+", text.lower()) for text in (one, other))
    )
    return len(first & second) / len(first | second)


@pytest.mark.parametrize(
    "form",
    [
        str.upper,
        lambda text: text.replace("\n", " "),
        lambda text: text.replace("\n", "\r\n\r\n  "),
        lambda text: "\n".join(f"- **{line}**" for line in text.split("\n")),
    ],
    ids=["case", "unwrapped", "line ends", "markup"],
)
def test_the_form_of_a_text_does_not_matter(form: object) -> None:
    """Case, line breaks, spaces and markup change nothing."""
    text = made_body(1)
    assert callable(form)
    assert pieces_of(form(text)) == pieces_of(text)


@pytest.mark.parametrize("is_chinese", [False, True], ids=["English", "Chinese"])
@pytest.mark.parametrize(
    ("share", "least", "most"), [(0.1, 0.85, 0.99), (0.3, 0.6, 0.9), (1.0, 0.1, 0.6)]
)
def test_more_edits_are_less_similar(
    share: float, least: float, most: float, is_chinese: bool
) -> None:
    """One edit in every tenth line is similar; one in every line is not, in any script."""
    text = made_body(2, 1000, is_chinese=is_chinese)
    assert least <= of(text, edited(text, share)) <= most
    assert of(text, made_body(3, 1000, is_chinese=is_chinese)) < 0.05


@pytest.mark.parametrize("words", [300, 1000, 6000])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_similarity_is_close_to_runs_of_three_words(words: int, share: float) -> None:
    """Of short texts and of long ones."""
    text = made_body(4, words)
    other = edited(text, share).replace("改", " other ")
    assert of(text, other) == pytest.approx(true_similarity(text, other), abs=0.13)


def test_short_texts_are_similar_to_none() -> None:
    """Not even to themselves; the same letters again and again are a short text, too."""
    for text in (
        "",
        "# Steps\n",
        "Run the script.",
        "Text. " * 5000,
        "的" * 5000,
        made_body(5, 30),
    ):
        assert pieces_of(text) == frozenset()
        assert of(text, text) == 0
    assert len(pieces_of(made_body(5, 150))) >= FEWEST


def test_a_text_with_any_characters_is_compared() -> None:
    """Also with halves of surrogate pairs."""
    text = "\ud800" * 3 + made_body(6)
    assert of(text, text) == 1

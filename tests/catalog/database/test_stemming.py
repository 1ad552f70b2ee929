"""Stems of words."""

import pytest

from catalog.database.stemming import Stemmer


@pytest.mark.parametrize(
    ("word", "stem"),
    [("converting", "convert"), ("analyse", "analys"), ("纪要", "纪要"), ("²", "²"), ("", "")],
)
def test_a_word_of_a_stem_has_that_stem(word: str, stem: str) -> None:
    """The stem of a stem may be another one, so a search needs a word."""
    stemmer = Stemmer()
    assert stemmer.stem(word) == stem
    assert stemmer.stem(stemmer.word(stem)) == stem
    stemmer.close()

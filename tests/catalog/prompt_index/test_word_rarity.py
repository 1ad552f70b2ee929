"""Rarity of words in skills."""

from catalog.prompt_index.shortening import RAREST, rarity, words_of


def test_a_word_of_fewer_skills_is_rarer() -> None:
    """Whatever its case; an unknown word is rarest."""
    assert rarity("the") < rarity("file") < rarity("analytics") < rarity("zebra") == RAREST
    assert rarity("File") == rarity("file")


def test_words_begin_with_a_letter() -> None:
    """Numbers are no words; words of any script are."""
    assert words_of("Reads 3 CSV2 files: 表格, naïve_x") == [
        "Reads",
        "CSV2",
        "files",
        "表格",
        "naïve_x",
    ]

"""Rarity of words in skills."""

from catalog.prompt_index.shortening import RAREST, rarity


def test_a_word_of_fewer_skills_is_rarer() -> None:
    """Whatever its case; an unknown word is rarest."""
    assert rarity("the") < rarity("file") < rarity("analytics") < rarity("zebra") == RAREST
    assert rarity("File") == rarity("file")

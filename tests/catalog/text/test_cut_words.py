"""Parts of a description that a shortened text keeps."""

import time

import pytest

from catalog.prompt_index.shortening import shorten_description
from catalog.text.cut_words import MOST_CHARACTERS, parts

ENGLISH = "Folds paper into cranes. Use when somebody asks for origami with kraft paper or foil."
CHINESE = "把会议录音整理成会议纪要，并提取待办事项，发给与会者。当用户提到会议记录时使用。"


@pytest.mark.parametrize("description", [ENGLISH, CHINESE, "x" * (MOST_CHARACTERS + 9), ""])
@pytest.mark.parametrize("room", [5, 12, 30, 70])
def test_the_parts_are_the_description(description: str, room: int) -> None:
    """And the kept ones are words of the shown text, in its order."""
    shown = shorten_description(description, "some-name", room)
    found = parts(description, shown)
    assert "".join(part.text for part in found) == description
    rest = shown
    for part in found:
        if part.is_kept:
            assert part.text in rest
            rest = rest.partition(part.text)[2]


def test_the_place_with_most_of_the_following_words_is_kept() -> None:
    """Not the first one that has the first word."""
    found = parts("the cat saw the dog at home", "the dog")
    assert [part.text for part in found if part.is_kept] == ["the dog"]


def test_repeated_words_take_linear_time() -> None:
    """Thousands of equal words are compared at once."""
    began = time.process_time()
    parts("a " * MOST_CHARACTERS, "a b " * MOST_CHARACTERS)
    assert time.process_time() - began < 1

"""Search for the words of rules."""

from concurrent.futures import ThreadPoolExecutor

from pipeline.roots.words import MOST, found, lower, searched


def test_words_are_found_at_their_offsets_in_characters() -> None:
    """ASCII letters match in either case, and characters of several bytes count as one."""
    searched(["zebra", "用户"])
    words = found("„Zebra“ – 用户, ZEBRA; zebr".encode())
    assert {word: list(words[word]) for word in ("zebra", "用户")} == {
        "zebra": [1, 14],
        "用户": [10],
    }


def test_words_that_hold_others_are_found_beside_them() -> None:
    """A word inside another one is found, too."""
    searched(["yak", "yakwool", "wool"])
    words = found(b"Yakwool")
    assert {word: list(words[word]) for word in ("yak", "yakwool", "wool")} == {
        "yak": [0],
        "yakwool": [0],
        "wool": [3],
    }


def test_words_of_later_rules_are_found() -> None:
    """A rule that is imported after the first search adds its words."""
    searched(["gnu"])
    assert "okapi" not in found(b"a gnu and an okapi")
    searched(["okapi"])
    assert found(b"a gnu and an okapi").keys() == {"gnu", "okapi"}


def test_words_are_complete_until_a_rule_adds_others() -> None:
    """A text is searched again if a rule was imported after it was read."""
    words = found(b"a heron")
    assert words.is_complete
    assert words.between(1).is_complete
    searched(["heron"])
    assert not words.is_complete


def test_a_word_that_is_repeated_without_end_hides_no_other() -> None:
    """Only the first offsets of each word are kept."""
    searched(["zebra", "gnu"])
    words = found(("zebra " * (MOST + 5) + "„gnu“").encode())
    assert len(words["zebra"]) == MOST
    assert words["gnu"] == [6 * (MOST + 5) + 1]


def test_words_of_the_end_of_a_text_have_their_offsets_there() -> None:
    """Words before the end are left out, as is one that begins before it."""
    searched(["zebra"])
    assert found("zebra – zebra zebra".encode()).between(9)["zebra"] == [5]


def test_threads_search_their_texts_at_once() -> None:
    """Each gets the words of its own text."""
    searched(["zebra", "gnu"])
    texts = [b"zebra gnu " * number for number in range(200)]
    with ThreadPoolExecutor(4) as threads:
        counts = [len(words.get("gnu", ())) for words in threads.map(found, texts)]
    assert counts == [*range(200)]


def test_a_text_that_is_no_unicode_is_searched() -> None:
    """A lone surrogate counts as one character."""
    searched(["zebra"])
    assert list(found(lower("\ud800 zebra"))["zebra"]) == [2]

"""Differences and similarity of two texts."""

import difflib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text.differences import (
    FEWEST,
    ComparisonsLeft,
    Gap,
    Line,
    difference,
    pieces_of,
    similarity,
    words,
)
from tests.support.bodies import edited, made_body

LINES = st.lists(st.sampled_from("abcdefg"), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def applied(old: str, new: str, work: ComparisonsLeft) -> tuple[list[str], list[str]]:
    """Return the removed and added lines of a difference."""
    found = [line for line in difference(old, new, work).whole() if isinstance(line, Line)]
    return (
        [line.text for line in found if line.kind == "del"],
        [line.text for line in found if line.kind == "add"],
    )


@given(LINES, LINES)
def test_a_difference_is_a_valid_unified_diff(old: str, new: str) -> None:
    """Line ends aside, patching the old text with it gives the new one."""
    ours = difference(old, new).unified("a", "b").splitlines()
    theirs = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "a", "b", lineterm=""))
    assert bool(ours) == bool(theirs)
    assert ours[:2] == theirs[:2]
    assert _patched(old.splitlines(), ours) == new.splitlines()


@given(LINES, LINES)
def test_a_coarse_difference_is_still_correct(old: str, new: str) -> None:
    """It may show unchanged lines as changed, but no changed line as unchanged."""
    ours = difference(old, new, ComparisonsLeft(0)).unified("a", "b").splitlines()
    assert _patched(old.splitlines(), ours) == new.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("a\n", "a", "Only the line end of the last line differs."),
        ("a b\nc\n", "a  b \r\nc\n", "Only spaces and line ends differ."),
        ("a\n", "b\n", ""),
    ],
)
def test_a_difference_says_if_nobody_can_see_it(old: str, new: str, note: str) -> None:
    """The page and the command show the sentence beside the lines."""
    assert difference(old, new).note == note


def test_reordered_lines_are_compared_in_seconds() -> None:
    """All of 60,000 short lines have moved."""
    old = "".join(f"{number:x}\n" for number in range(60_000))
    new = "".join(f"{number * 7 % 60_000:x}\n" for number in range(60_000))
    began = time.process_time()
    found = difference(old, new)
    assert time.process_time() - began < 5
    assert found.is_coarse


def test_common_beginnings_and_ends_cost_no_work() -> None:
    """One changed line in a long text is shown as one line, even without work left."""
    old = [str(number) for number in range(5_000)]
    new = [*old[:2_500], "other", *old[2_501:]]
    assert applied("\n".join(old), "\n".join(new), ComparisonsLeft(2)) == (["2500"], ["other"])


def _patched(lines: list[str], diff: list[str]) -> list[str]:
    """Apply a unified diff."""
    result, at = [], 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            result += lines[at:first]
            at = first
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            at += 1
            if line.startswith(" "):
                result.append(line[1:])
    return result + lines[at:]


@given(LINES, LINES)
def test_a_difference_with_its_gaps_is_the_whole_text(old: str, new: str) -> None:
    """Every line of both texts is in a change, around one, or in a gap."""
    before: list[str] = []
    after: list[str] = []
    for line in difference(old, new).whole():
        lines = list(line.lines) if isinstance(line, Gap) else [line.text]
        kind = "same" if isinstance(line, Gap) else line.kind
        before += lines if kind in ("same", "del") else []
        after += lines if kind in ("same", "add") else []
    assert "\n".join(before) == old.removesuffix("\n")
    assert "\n".join(after) == new.removesuffix("\n")


def test_words_that_another_line_lacks_are_marked() -> None:
    """In bounded time; lines with little in common, or of many words, are not compared."""
    assert words("retries = 3  # times", "retries = 5  # times", ComparisonsLeft()) == [
        ("retries = ", False),
        ("3", True),
        ("  # times", False),
    ]
    assert words("a b c", "x y z", ComparisonsLeft()) == [("a b c", False)]
    assert words("a " * 1_000, "b " * 1_000, ComparisonsLeft()) == [("a " * 1_000, False)]
    assert words("a b c d", "a b c e", ComparisonsLeft(0)) == [("a b c d", False)]


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

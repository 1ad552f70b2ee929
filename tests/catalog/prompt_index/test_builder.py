"""The text of a prompt index, and the states of its skills."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.prompt_index import builder
from catalog.prompt_index.budget import State
from catalog.prompt_index.builder import Candidate, IndexSpec, PromptIndex
from catalog.prompt_index.formats import FORMATS
from tests.support.candidates import CANDIDATES, SPECS, a, many

AS_MUCH = {"full": 2, "shortened": 1, "name_only": 0}


def states(index: PromptIndex) -> list[State]:
    """Return the states in order."""
    return [entry.state for entry in index.entries]


@pytest.mark.parametrize("form", FORMATS)
def test_without_skills_the_text_is_empty(form: str) -> None:
    """No header stands alone, even if no skill fits; the skills left out are counted."""
    assert builder.build(IndexSpec(format=form), []).text == ""
    index = builder.build(IndexSpec(format=form, budget_chars=20), [a("count")])
    assert (index.text, index.entries, index.left_out, index.left_out_names) == (
        "",
        (),
        1,
        ("count",),
    )


def test_excluding_ends_at_the_first_entry_that_does_not_fit() -> None:
    """A short skill never overtakes a long one that ranks above it."""
    skills = [a("first"), a("second", "Long. " * 30), a("third")]
    spec = IndexSpec(overflow="exclude", budget_chars=280)
    index = builder.build(spec, skills)
    assert states(index) == ["full"]
    assert index.left_out_names == ("second", "third")


def test_a_text_as_long_as_the_budget_is_not_cut() -> None:
    """A budget of exactly the whole text cuts nothing; one character less cuts something."""
    skills = many(9)
    for form in FORMATS:
        whole = builder.build(IndexSpec(format=form, budget_chars=10**6), skills)
        again = builder.build(IndexSpec(format=form, budget_chars=len(whole.text)), skills)
        less = builder.build(IndexSpec(format=form, budget_chars=len(whole.text) - 1), skills)
        assert again.text == whole.text
        assert set(states(whole)) == {"full"}
        assert set(states(less)) != {"full"} or less.left_out


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param(20_000, ["full"] * 40, id="room for all"),
        pytest.param(17_000, ["full"] * 31 + ["shortened"] * 9, id="the important ones whole"),
        pytest.param(12_000, ["shortened"] * 40, id="words of each"),
        pytest.param(5_000, ["shortened"] * 17 + ["name_only"] * 23, id="names for the rest"),
        pytest.param(1_000, ["name_only"] * 40, id="names alone"),
        pytest.param(700, ["name_only"] * 28, id="and some left out"),
    ],
)
def test_a_shrinking_budget_takes_words_first_and_names_last(
    budget: int, expected: list[State]
) -> None:
    """The least important skills lose them first."""
    index = builder.build(IndexSpec(budget_chars=budget, location_base="/p"), many(40))
    assert states(index) == expected
    assert len(index.text) <= budget
    assert index.left_out == 40 - len(expected)


def test_descriptions_are_shortened_fairly() -> None:
    """No shortened description is more than twice as long as another."""
    for budget in range(6_000, 16_000, 500):
        index = builder.build(IndexSpec(budget_chars=budget), many(40, 900))
        cut = [len(e.description) for e in index.entries if e.state == "shortened"]
        for above, below in pairwise(cut):
            assert above >= below - 30
            assert above <= 2.5 * below


def test_a_cut_entry_has_a_reason() -> None:
    """The reason gives the characters shown."""
    index = builder.build(IndexSpec(budget_chars=5_000, location_base="/p"), many(40))
    said = {entry.state: entry.reason for entry in index.entries}
    assert said["name_only"] == "only its name fits"
    assert re.fullmatch(
        r"\d+ of 30\d characters of its description are shown", str(said["shortened"])
    )


def test_no_more_is_drawn_than_the_budget_reaches() -> None:
    """In a catalog of any size, only the skills that fit by name and the next hundred are read."""
    drawn = 0

    def endless() -> Iterator[Candidate]:
        nonlocal drawn
        while True:
            drawn += 1
            yield a(f"skill-{drawn:09d}", "x" * 400)

    index = builder.build(IndexSpec(budget_chars=4_000), endless(), total=10**6)
    assert index.left_out == 10**6 - len(index.entries)
    assert drawn <= len(index.entries) + 101


def test_three_hundred_skills_are_all_named_in_the_default_budget() -> None:
    """Only thirty whole entries would fit."""
    skills = many(300)
    fit = builder.build(IndexSpec(location_base="/p"), skills)
    assert len(fit.entries) == 300
    assert len(builder.build(IndexSpec(overflow="exclude"), skills).entries) < 50


@given(SPECS, CANDIDATES)
def test_the_budget_bounds_the_whole_text(spec: IndexSpec, candidates: list[Candidate]) -> None:
    """Header and footer count, for any names and descriptions; no skill is lost."""
    index = builder.build(spec, candidates)
    assert len(index.text) <= spec.budget_chars
    assert len(index.entries) + index.left_out == len(candidates)
    assert [e.name for e in index.entries] + list(index.left_out_names) == [
        c.name for c in candidates
    ]
    assert bool(index.text) == bool(index.entries)


@given(SPECS, CANDIDATES.filter(bool))
def test_one_skill_more_at_the_end_takes_words_only(
    spec: IndexSpec, candidates: list[Candidate]
) -> None:
    """It removes no skill above it, nor any description while its own is shown."""
    before = builder.build(spec, candidates[:-1])
    after = builder.build(spec, candidates)
    assert len(after.entries) >= len(before.entries)
    if len(after.entries) == len(candidates) and states(after)[-1] != "name_only":
        assert "name_only" not in states(after)


@pytest.mark.parametrize("form", ["xml", "semibot", "markdown", "json"])
def test_at_every_budget_the_text_fits_and_no_skill_is_lost(form: str) -> None:
    """Even where the number left out gains a digit, and where one character decides."""
    skills = [a(f"s{n}", "Reads.") for n in range(120)]
    for budget in range(100, 800, 5):
        spec = IndexSpec(format=form, budget_chars=budget, instruction="")
        built = [builder.build(spec, skills[:n]) for n in (1, 2, 3, 6, 12, 20, 30, 45, 120)]
        assert all(len(index.text) <= budget for index in built)
        inside = [len(index.entries) for index in built]
        assert inside == sorted(inside)


@given(SPECS, CANDIDATES)
def test_names_without_descriptions_come_last(spec: IndexSpec, candidates: list[Candidate]) -> None:
    """Every skill above a described one is described, too."""
    ranks = [AS_MUCH[state] > 0 for state in states(builder.build(spec, candidates))]
    assert ranks == sorted(ranks, reverse=True)


@given(CANDIDATES, st.integers(0, 3000))
def test_a_larger_budget_loses_no_skill(candidates: list[Candidate], budget: int) -> None:
    """More room never lists fewer skills."""
    less = builder.build(IndexSpec(budget_chars=budget), candidates)
    more = builder.build(IndexSpec(budget_chars=budget + 100), candidates)
    assert len(more.entries) >= len(less.entries)

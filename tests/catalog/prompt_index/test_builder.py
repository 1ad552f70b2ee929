"""The text of a prompt index, and the states of its skills."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog.prompt_index import builder
from catalog.prompt_index.builder import STEPS, PromptIndex, State
from catalog.prompt_index.formats.form import Candidate
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.text import tokens
from tests.support.candidates import CANDIDATES, SPECS, a, many


def states(index: PromptIndex) -> list[State]:
    """Return the states in order."""
    return [entry.state for entry in index.entries]


def wordy(count: int) -> list[Candidate]:
    """Return candidates with descriptions of 150 different words."""
    words = map("".join, product("bcdfg", "aeiou", "klmnpr"))
    description = " ".join(words)
    return [a(f"skill-number-{n:04d}", description) for n in range(count)]


@pytest.mark.requirement("client-guide/empty")
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


@pytest.mark.requirement("textbook/budget-exclude")
def test_excluding_ends_at_the_first_entry_that_does_not_fit() -> None:
    """A short skill never overtakes a long one that ranks above it."""
    skills = [a("first"), a("second", "Long. " * 30), a("third")]
    spec = IndexSpec(format="xml", overflow="exclude", budget_chars=280)
    index = builder.build(spec, skills)
    assert states(index) == ["full"]
    assert index.left_out_names == ("second", "third")


def test_a_text_as_long_as_the_budget_is_not_cut() -> None:
    """A budget of exactly the whole text cuts nothing; one character less cuts something."""
    skills = many(9)
    for form in FORMATS:
        spec = IndexSpec(format=form, budget_chars=10**6)
        whole = builder.build(spec, skills)
        again = builder.build(replace(spec, budget_chars=len(whole.text)), skills)
        less = builder.build(replace(spec, budget_chars=len(whole.text) - 1), skills)
        assert again.text == whole.text
        assert set(states(whole)) == {"full"}
        assert set(states(less)) != {"full"} or less.left_out


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param(20_000, {"full": 40}, id="room for all"),
        pytest.param(12_000, {"shortened": 40}, id="words of each"),
        pytest.param(2_000, {"shortened": 40}, id="a few words of each"),
        pytest.param(1_200, {"name_only": 40}, id="names alone"),
        pytest.param(700, {"name_only": 27}, id="and some left out"),
    ],
)
def test_a_shrinking_budget_takes_words_first_and_names_last(
    budget: int, expected: dict[State, int]
) -> None:
    """All skills lose words together."""
    index = builder.build(IndexSpec(budget_chars=budget, location_base="/p"), many(40))
    assert Counter(states(index)) == expected
    assert len(index.text) <= budget
    assert index.left_out == 40 - sum(expected.values())


@pytest.mark.parametrize("form", ["lines", "xml"])
def test_every_skill_has_equal_room(form: str) -> None:
    """Long descriptions are shortened to about the same length; a short one is whole."""
    skills = [a("short"), *wordy(40)]
    for budget in range(6_000, 16_000, 1_000):
        index = builder.build(IndexSpec(format=form, budget_chars=budget), skills)
        assert states(index)[0] == "full"
        lengths = [len(e.shown) for e in index.entries if e.state == "shortened"]
        assert len(lengths) == 40
        assert max(lengths) - min(lengths) <= 12


def test_featured_skills_and_higher_levels_have_more_room() -> None:
    """Each has the room of its factor; a featured one has words where others have names only."""
    skills = [
        skill._replace(factor=factor, is_featured=number == 0)
        for number, (skill, factor) in enumerate(zip(wordy(40), [2, 1.5, *[1] * 38], strict=True))
    ]
    spec = IndexSpec(budget_chars=8_000, location_base="/p")
    lengths = [len(entry.shown) for entry in builder.build(spec, skills).entries]
    assert lengths[0] > 1.8 * lengths[2]
    assert lengths[1] > 1.3 * lengths[2]
    few = builder.build(replace(spec, budget_chars=1_200), skills)
    assert states(few) == ["shortened", *["name_only"] * 39]


def test_featured_words_take_at_most_half_of_the_room_for_names() -> None:
    """A few featured skills have words where not even all names fit; more of them have fewer."""
    spec = IndexSpec(budget_chars=8_000, location_base="/p")
    shown = {}
    for featured in (2, 30, 200):
        skills = [s._replace(is_featured=n < featured) for n, s in enumerate(wordy(900))]
        entries = builder.build(spec, skills).entries
        shown[featured] = [len(entry.shown) for entry in entries[:featured]]
        assert not any(entry.shown for entry in entries[featured:])
        assert sum(len(entry.text) for entry in entries if entry.shown) <= 4_000
    assert min(shown[2]) > 100 > max(shown[30]) >= min(shown[30]) > 0 == max(shown[200])


def test_one_skill_more_changes_no_other_line_until_a_step_is_passed() -> None:
    """Most additions change nothing above; each step changes all lines once."""
    skills = many(125, 400)
    before: set[str] = set()
    changed = []
    spec = IndexSpec(budget_chars=2_000, location_base="/p")
    for count in range(1, 126):
        text = builder.build(spec, skills[:count]).text
        lines = set(text.splitlines())
        if before and not before <= lines | {text.splitlines()[-1]}:
            changed.append(count)
        before = {line for line in lines if line.startswith("skill-")}
    assert 10 < len(changed) <= len(STEPS)


def test_a_list_of_names_begins_with_how_to_search() -> None:
    """The line does not change with the number of skills."""
    urls = IndexSpec(location_base="https://h/skills")
    for spec in (urls, replace(urls, format="xml"), replace(urls, format="json")):
        few, more, most = (builder.build(spec, many(count, 400)).text for count in (90, 900, 990))
        assert "search" not in few
        assert "search_skills" in more[:300]
        assert "https://h/search.json?q=TASK" in more[:300]
        assert more[:5000] == most[:5000]


@pytest.mark.requirement("textbook/budget-window")
def test_a_budget_of_tokens_bounds_them() -> None:
    """Chinese text gets fewer characters of it than English text."""
    description = "".join(map(chr, range(0x4E00, 0x4F00)))
    chinese = [a(f"技能{n}", description) for n in range(40)]
    spec = IndexSpec(budget_tokens=2_000, location_base="/p")
    texts = [builder.build(spec, skills).text for skills in (chinese, wordy(40))]
    assert all(1_400 < tokens.estimate(text) <= 2_000 for text in texts)
    assert len(texts[0]) < len(texts[1])


@pytest.mark.requirement("prd/index-tokens")
def test_an_entry_of_semibot_takes_50_to_100_tokens_and_is_cut_by_the_budget_alone() -> None:
    """That is the size of an entry with a description of 150 characters; a longer one is whole."""
    spec = IndexSpec(format="semibot", budget_chars=100_000)
    for chars, least, most in ((150, 50, 100), (900, 200, 400)):
        index = builder.build(spec, many(10, chars))
        assert set(states(index)) == {"full"}
        entries = re.findall(r"  <skill .*?</skill>\n", index.text, re.DOTALL)
        assert len(entries) == 10
        assert all(least <= tokens.estimate(entry) <= most for entry in entries)


def test_a_cut_entry_has_a_reason() -> None:
    """The reason gives the characters shown."""
    index = builder.build(IndexSpec(budget_chars=5_000, location_base="/p"), many(40))
    assert re.fullmatch(
        r"\d+ of 30\d characters of its description are shown", str(index.entries[0].reason)
    )
    index = builder.build(IndexSpec(budget_chars=1_100, location_base="/p"), many(40))
    assert index.entries[0].reason == "only its name fits"


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


@pytest.mark.requirement("textbook/budget-default")
def test_three_hundred_skills_are_all_named_in_the_default_budget() -> None:
    """Only thirty whole entries would fit."""
    skills = many(300)
    fit = builder.build(IndexSpec(format="xml", location_base="/p"), skills)
    assert len(fit.entries) == 300
    assert len(builder.build(IndexSpec(format="xml", overflow="exclude"), skills).entries) < 50


@pytest.mark.requirement("textbook/budget-bounds")
@given(SPECS, CANDIDATES)
def test_the_budget_bounds_the_whole_text(spec: IndexSpec, candidates: list[Candidate]) -> None:
    """Header and footer count, for any names and descriptions; no skill is lost."""
    index = builder.build(spec, candidates)
    budget = spec.budget
    assert (tokens.estimate if budget.unit == "tokens" else len)(index.text) <= budget.size
    assert len(index.entries) + index.left_out == len(candidates)
    assert [e.skill.name for e in index.entries] + list(index.left_out_names) == [
        c.name for c in candidates
    ]
    assert bool(index.text) == bool(index.entries)


@given(SPECS, CANDIDATES.filter(bool))
def test_one_skill_more_at_the_end_takes_words_only(
    spec: IndexSpec, candidates: list[Candidate]
) -> None:
    """It removes no skill above it."""
    before = builder.build(spec, candidates[:-1])
    after = builder.build(spec, candidates)
    assert len(after.entries) >= len(before.entries)


@pytest.mark.requirement("textbook/budget-bounds")
@pytest.mark.parametrize("form", ["xml", "semibot", "markdown", "json"])
def test_at_every_budget_the_text_fits_and_no_skill_is_lost(form: str) -> None:
    """Even where the number left out gains a digit, and where one character decides."""
    skills = [a(f"s{n}", "Reads.") for n in range(120)]
    for budget in range(100, 800, 5):
        spec = IndexSpec(format=form, budget_chars=budget)
        built = [builder.build(spec, skills[:n]) for n in (1, 2, 3, 6, 12, 20, 30, 45, 120)]
        assert all(len(index.text) <= budget for index in built)
        inside = [len(index.entries) for index in built]
        assert inside == sorted(inside)


@given(CANDIDATES, st.integers(1, 3000))
@example([a(f"skill-{n}", "Reads files.") for n in range(20)], 720)
def test_a_larger_budget_loses_no_skill(candidates: list[Candidate], budget: int) -> None:
    """More room never lists fewer skills."""
    less = builder.build(IndexSpec(budget_chars=budget), candidates)
    more = builder.build(IndexSpec(budget_chars=budget + 100), candidates)
    assert len(more.entries) >= len(less.entries)

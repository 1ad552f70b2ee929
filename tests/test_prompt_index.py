"""The text of a prompt index."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from catalog import prompt_index
from catalog.formats import one_line
from catalog.prompt_index import Candidate, IndexSpec

TEXT = st.text(max_size=80)
CANDIDATES = st.lists(st.builds(Candidate, skill=st.integers(1, 99), name=TEXT.filter(one_line),
                                description=TEXT, location=TEXT), max_size=12)


def a(name: str, description: str = "Counts words.") -> Candidate:
    """Return a candidate at an ordinary place."""
    return Candidate(1, name, description, f"/skills/{name}/SKILL.md")


def test_an_index_lists_name_description_and_location() -> None:
    """The default form is what agents know: one element a skill."""
    assert prompt_index.build(IndexSpec(), [a("count")]).text == (
        "<available_skills>\n<skill>\n<name>count</name>\n"
        "<description>Counts words.</description>\n"
        "<location>/skills/count/SKILL.md</location>\n</skill>\n</available_skills>\n"
    )


def test_without_skills_the_text_is_empty() -> None:
    """No header speaks of nothing, also where nothing fits."""
    assert prompt_index.build(IndexSpec(), []).text == ""
    assert prompt_index.build(IndexSpec(budget_chars=50), [a("count")]).text == ""


def test_the_first_entry_that_does_not_fit_ends_the_index() -> None:
    """A short skill never overtakes a long one that ranks above it."""
    entry = len(prompt_index.build(IndexSpec(), [a("first")]).text)
    index = prompt_index.build(IndexSpec(budget_chars=entry + 130),
                               [a("first"), a("second", "Long. " * 30), a("third")])
    assert index.count("full") == 1


@given(CANDIDATES, st.integers(0, 3000))
def test_the_budget_bounds_the_whole_text(candidates: list[Candidate], budget: int) -> None:
    """Header and footer count, whatever names and descriptions hold."""
    index = prompt_index.build(IndexSpec(budget_chars=budget), candidates)
    assert len(index.text) <= budget


@given(CANDIDATES)
def test_reading_the_xml_back_gives_what_went_in(candidates: list[Candidate]) -> None:
    """Nothing a skill says can close its element, start another or break the document."""
    index = prompt_index.build(IndexSpec(budget_chars=100_000), candidates)
    if not candidates:
        return
    skills = [[part.text or "" for part in skill] for skill in ET.fromstring(index.text)]
    assert skills == [[one_line(c.name), one_line(c.description), one_line(c.location)]
                      for c in candidates]


@given(CANDIDATES, st.integers(0, 3000))
def test_no_more_is_ranked_than_could_fit(candidates: list[Candidate], budget: int) -> None:
    """The bound on what is read from the catalog is never below what the index holds."""
    spec = IndexSpec(budget_chars=budget)
    assert len(prompt_index.build(spec, candidates).entries) <= prompt_index.most_entries(spec)

"""Listings of agents by their rules, for names and descriptions."""

from dataclasses import replace
from pathlib import PurePath

import pytest

from catalog.listings.agents import AGENTS, reader_of
from catalog.listings.told import Told, fitting, told

ONE_BY_ONE = replace(AGENTS["claude-code"], taken=0, longest=30)
ALIKE = replace(
    AGENTS["codex"], beside={}, line="{name}:{description}", bare="{name}:", unit="characters"
)


def test_descriptions_that_find_no_room_are_left_out_one_by_one() -> None:
    """In the order of letters, whatever their case; a later short one may still find some."""
    skills = {"b": "x" * 20, "A": "x" * 20, "c": "x" * 20, "d": "x" * 3, "e": "x" * 40}
    room = 5 * 4 + 2 * 22 + 5
    assert told(replace(ONE_BY_ONE, budget=room), skills) == {
        "A": Told("whole", 20),
        "b": Told("whole", 20),
        "c": Told("name"),
        "d": Told("whole", 3),
        "e": Told("name"),
    }
    assert told(ONE_BY_ONE, skills)["e"] == Told("cut", 30)
    assert told(replace(ONE_BY_ONE, budget=1), skills)["A"] == Told("name")


def test_descriptions_are_shortened_alike() -> None:
    """Short ones leave their room to the others; characters that are left over go to the first."""
    skills = {"b": "x" * 20, "A": "x" * 20, "c": "xy"}
    room = 3 * 3 + 2 + 6 + 5
    assert told(replace(ALIKE, budget=room), skills) == {
        "A": Told("cut", 6),
        "b": Told("cut", 5),
        "c": Told("whole", 2),
    }


def test_names_without_room_are_not_listed() -> None:
    """The first ones are, without descriptions."""
    skills = {"a": "x", "b": "x", "ccccc": "x", "d": "x"}
    found = told(replace(ALIKE, budget=9), skills)
    assert {name: each.how for name, each in found.items()} == {
        "a": "name",
        "b": "name",
        "ccccc": "none",
        "d": "name",
    }
    assert told(replace(ALIKE, most=2), skills)["ccccc"] == Told("none")


def test_tokens_are_four_bytes_of_a_line() -> None:
    """A Chinese character has three."""
    agent = replace(ALIKE, unit="tokens", budget=4)
    assert told(agent, {"a": "数" * 10}) == {"a": Told("cut", 4)}
    assert told(agent, {"a": "x" * 20}) == {"a": Told("cut", 13)}


def test_an_agent_without_a_budget_tells_everything() -> None:
    """However much it is."""
    skills = {f"a{number}": "x" * 2000 for number in range(2000)}
    assert set(told(AGENTS["opencode"], skills).values()) == {Told("whole", 2000)}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("number", [5, 200, 3000])
def test_what_fits_is_told_whole(name: str, number: int) -> None:
    """With the finder, and with one skill more it would not be; a finder for nothing is not."""
    agent, finder = AGENTS[name], {"skilldrop-search": "Finds other skills. " * 20}
    skills = {f"skill-{count}": "数x" * (count * 37 % 300) for count in range(number)}
    some = fitting(agent, skills, finder)
    kept = {each: skills[each] for each in some} | (finder if len(some) < number else {})
    assert {each.how for each in told(agent, kept).values()} <= {"whole"}
    assert (len(some) == number) == (number == 5)
    if agent.budget and len(some) < number:
        kept = {each: skills[each] for each in list(skills)[: len(some) + 1]} | finder
        assert {each.how for each in told(agent, kept).values()} != {"whole"}


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("/home/anna/.claude/skills", "claude-code"),
        ("/srv/project/.agents/skills", "codex"),
        ("/home/anna/.config/opencode/skills", "opencode"),
        ("/home/anna/opencode/skills", None),
        ("/home/anna/.claude/skills/x", None),
    ],
)
def test_some_directories_are_known(path: str, agent: str | None) -> None:
    """In a home or a project."""
    assert reader_of(PurePath(path)) == agent

"""Listing of a directory's skills in the prompt of an agent's model."""

from collections.abc import Mapping
from typing import Literal, NamedTuple
from unicodedata import normalize

from catalog.listings.agents import Agent

UNLIMITED = 30_000
"""Characters that skills may take in `fitting`, where an agent has no budget of its own."""


class Told(NamedTuple):
    """What a model is told about a skill: its name and so many characters of its description."""

    how: Literal["whole", "cut", "name", "none"]
    chars: int = 0


def told(agent: Agent, skills: Mapping[str, str]) -> dict[str, Told]:
    """Return what an agent tells about skills, whose descriptions are given by name."""
    order = sorted(skills, key=_by_letters if agent.order == "letters" else None)
    own = {name: "x" * chars for name, chars in agent.beside.items()}
    listed = own | {name: skills[name] for name in order[: agent.most]}
    longest = {name: len(text[: agent.longest]) for name, text in listed.items()}
    if agent.budget is None:
        shown = longest
    else:
        room = agent.budget - agent.taken - sum(_cost(agent, name) for name in listed)
        share = _in_turn if agent.past == "names" else _alike
        shown = share(agent, listed, longest, room)
    return {name: _told(skills[name], shown.get(name)) for name in order}


def fitting(agent: Agent, skills: Mapping[str, str], finder: Mapping[str, str]) -> list[str]:
    """Return the first skills that an agent tells whole together with a finder.

    They are all, if it tells all of them whole without one.
    """
    own = {name: "x" * chars for name, chars in agent.beside.items()}
    room = (agent.budget or UNLIMITED) - agent.taken - _costs(agent, own)
    kept, most = 0, agent.most or len(skills)
    for number, (name, description) in enumerate(skills.items(), 1):
        room -= _costs(agent, {name: description})
        if room < 0 or number > most:
            return list(skills)[:kept]
        if room >= _costs(agent, finder) and number < most:
            kept = number
    return list(skills)


def _costs(agent: Agent, skills: Mapping[str, str]) -> int:
    """Return the room of skills that are told as if there was enough."""
    return sum(_cost(agent, name, text[: agent.longest]) for name, text in skills.items())


def described(agent: Agent, description: str, when_to_use: str | None) -> str:
    """Return the description of a skill that an agent may show."""
    return (
        f"{description} - {when_to_use}" if when_to_use and agent.adds_when_to_use else description
    )


def _by_letters(name: str) -> tuple[str, str]:
    return normalize("NFKD", name.casefold()), name


def _told(description: str, chars: int | None) -> Told:
    if chars is None:
        return Told("none")
    if chars >= len(description):
        return Told("whole", len(description))
    return Told("cut", chars) if chars else Told("name")


def _in_turn(
    agent: Agent, skills: Mapping[str, str], longest: Mapping[str, int], room: int
) -> dict[str, int]:
    """Return the characters of each description: all of them, if there is room, or none.

    All names are listed, even without room.
    """
    shown = {}
    for name, description in skills.items():
        more = _cost(agent, name, description[: longest[name]]) - _cost(agent, name)
        shown[name] = longest[name] if more <= room else 0
        room -= more if more <= room else 0
    return shown


def _alike(
    agent: Agent, skills: Mapping[str, str], longest: Mapping[str, int], room: int
) -> dict[str, int]:
    """Return the characters of each description, which get one more in turn while there is room.

    If there is no room for all names, those that find some are listed.
    """
    cost = {name: _cost(agent, name) for name in skills}
    if room < 0:
        room += sum(cost.values())
        names = []
        for name in skills:
            if cost[name] <= room:
                room -= cost[name]
                names.append(name)
        return dict.fromkeys(names, 0)
    shown = dict.fromkeys(skills, 0)
    growing = [name for name in skills if longest[name]]
    while growing:
        grown = []
        for name in growing:
            more = _cost(agent, name, skills[name][: shown[name] + 1]) - cost[name]
            if more <= room:
                shown[name] += 1
                cost[name] += more
                room -= more
                grown.append(name)
        growing = [name for name in grown if shown[name] < longest[name]]
    return shown


def _cost(agent: Agent, name: str, description: str = "") -> int:
    """Return the room that a line takes, with its end."""
    form = agent.line if description else agent.bare
    line = form.format(name=name, description=description) + "\n"
    return len(line) if agent.unit == "characters" else -(-len(line.encode()) // 4)

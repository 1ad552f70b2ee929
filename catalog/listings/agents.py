"""Agents that read skills from directories, as `agents.toml` describes them."""

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path, PurePath
from typing import Literal

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from catalog.text.suggestions import slips


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent; `agents.toml` explains the fields."""

    title: str
    version: str
    directories: tuple[str, ...]  # that it reads, relative to a home or a project
    hides_user_only: bool  # it does not tell its model about skills that only users may start
    budget: int | None = None
    unit: Literal["characters", "tokens"] = "characters"
    window: int | None = None
    taken: int = 0
    beside: Mapping[str, int] = field(default_factory=dict)
    line: str = "- {name}: {description}"
    bare: str = "- {name}"
    order: Literal["letters", "code points"] = "code points"
    longest: int | None = None
    adds_when_to_use: bool = False
    most: int | None = None
    past: Literal["names", "shorter"] = "names"


_TOML = Path(__file__).with_name("agents.toml").read_text("utf-8")
AGENTS = TypeAdapter(Mapping[str, Agent]).validate_python(tomllib.loads(_TOML))
"""All known agents by name."""


def reader_of(path: PurePath) -> str | None:
    """Return the name of the agent whose own directory a path is, if any."""
    for name, agent in AGENTS.items():
        for directory in map(PurePath, agent.directories):
            if path.parts[-len(directory.parts) :] == directory.parts:
                return name
    return None


def meant(path: Path) -> Path | None:
    """Return the directory of an agent that somebody seems to mean by a path, if any."""
    for place in (path, path / "skills"):
        for directory in (each for agent in AGENTS.values() for each in agent.directories):
            size = directory.count("/") + 1
            if slips("/".join(place.parts[-size:]), directory) <= 2:
                return Path(*place.parts[:-size], directory)
    return None

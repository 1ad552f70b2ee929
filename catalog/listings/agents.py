"""Agents that read skills from directories, as `agents.toml` describes them."""

import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import NamedTuple


class Agent(NamedTuple):
    """One agent."""

    title: str
    directories: tuple[str, ...]  # that it reads, relative to a home or a project
    hides_user_only: bool  # it does not tell its model about skills that only users may start


AGENTS: Mapping[str, Agent] = {
    name: Agent(**values | {"directories": tuple(values["directories"])})
    for name, values in tomllib.loads(
        Path(__file__).with_name("agents.toml").read_text("utf-8")
    ).items()
}
"""All known agents by name."""


def reader_of(path: PurePath) -> str | None:
    """Return the name of the agent whose own directory a path is, if any."""
    for name, agent in AGENTS.items():
        for directory in map(PurePath, agent.directories):
            if path.parts[-len(directory.parts) :] == directory.parts:
                return name
    return None

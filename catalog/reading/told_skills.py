"""Listings of all linked directories in the prompts of their agents' models."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from catalog.database.queries import Database, Row
from catalog.listings.agents import AGENTS
from catalog.listings.finder import description_in
from catalog.listings.told import Told, described, told
from catalog.model import naming
from catalog.model.errors import NotInCatalog
from catalog.prompt_index import query
from catalog.prompt_index.spec import IndexSpec
from catalog.text.suggestions import few

LABELS = {"cut": "cut short", "name": "name alone", "none": "not told"}
"""What a model gets of a skill whose description it does not get whole."""


class ToldDirectory(NamedTuple):
    """Directory for a known agent, and what this agent tells about each skill there, by name."""

    path: str
    agent: str
    skills: dict[str, Told]
    left_out: int  # skills that have no room, where a directory fits its agent

    def summary(self) -> dict[str, Any]:
        """Return the agent, the number of skills that it tells whole, and the other names."""
        others: dict[str, list[str]] = {how: [] for how in LABELS}
        for name, each in self.skills.items():
            if each.how != "whole":
                others[each.how].append(name)
        whole = len(self.skills) - sum(map(len, others.values()))
        return {"agent": self.agent, "whole": whole, **others, "left_out": self.left_out}


def of_directories(db: Database, path: str | None = None) -> list[ToldDirectory]:
    """Return the directories for known agents, or only the one with a path."""
    found = []
    for row in db.rows(_DIRECTORIES, [path]):
        if agent := AGENTS.get(row["agent"]):
            rows = db.execute(_SKILLS, {"id": row["id"]}).fetchall()
            skills = {
                name: description_in(finder) if finder else described(agent, *texts)
                for name, finder, *texts in rows
            }
            left_out = _selected(db, row) - sum(not finder for _, finder, *_ in rows)
            left_out = max(0, left_out) if row["finder"] else 0
            found.append(ToldDirectory(row["path"], row["agent"], told(agent, skills), left_out))
    return found


def _selected(db: Database, directory: Row) -> int:
    """Return how many skills that a model may start pass the filter of a directory."""
    spec = IndexSpec(**json.loads(directory["filter"]))
    with suppress(NotInCatalog):  # an index that is no longer configured is the directory's trouble
        spec = query.index_spec(db, directory["index_name"]) if directory["index_name"] else spec
    return query.count_indexable(db, spec)


def of_skill(db: Database, skill: Row) -> list[dict[str, Any]]:
    """Return what each agent that has a skill tells about it."""
    name = naming.entry_name(skill["name"], skill["skill_id"])
    return [
        {"agent": each.agent, "path": each.path, **each.skills[name]._asdict()}
        for each in of_directories(db)
        if name in each.skills
    ]


def lines(summary: Mapping[str, Any], linked: int) -> Iterator[str]:
    """Yield lines for people about a `ToldDirectory.summary`: the numbers, and some names.

    `linked` is the number of all skills in the directory.
    """
    others = linked - summary["whole"] - sum(len(summary[how]) for how in LABELS)
    numbers = [*counts(summary), *([f"{others:,} for people alone"] if others > 0 else [])]
    yield f"told to the model of {AGENTS[summary['agent']].title}: {', '.join(numbers)}"
    for how, label in LABELS.items():
        if summary[how]:
            yield f"    {label}: {few(summary[how])}"


def counts(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of a `ToldDirectory.summary` in words."""
    yield f"{summary['whole']:,} whole"
    for how, label in LABELS.items():
        if summary[how]:
            yield f"{len(summary[how]):,} {label}"
    if summary["left_out"]:
        yield f"{summary['left_out']:,} left to the search"


_DIRECTORIES = """
    SELECT id, path, agent, index_name, filter, finder FROM linked_directories
    WHERE agent IS NOT NULL AND is_leaving = 0 AND path = ifnull(?, path) ORDER BY path
"""
# An agent that has the skills which only users may start tells its model nothing about them.
_SKILLS = """
    SELECT l.name, NULL, s.description, json_extract(s.frontmatter, '$.when_to_use')
    FROM links AS l JOIN skills AS s ON s.skill_id = l.skill_id
    WHERE l.directory = :id AND l.is_linked = 1 AND s.status = 'active' AND s.model_invocable = 1
    UNION ALL SELECT name, skill_md, NULL, NULL FROM links
    WHERE directory = :id AND is_linked = 1 AND skill_md IS NOT NULL
"""

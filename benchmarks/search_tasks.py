"""Tasks, the skills that answer them, and the place of a right answer.

A folder of data holds `queries.jsonl`, a task a line (`sentence`, `keywords`, `relevant`: names of
the skills that answer it), and these skills in `skills/<collection>/<name>/SKILL.md`. Its folder
`metatool` may hold a part of MetaTool (github.com/HowieHwong/MetaTool): `tools.json` with names and
descriptions alone, and `queries.jsonl`, a `query` a line with the `tool` that answers it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import frontmatter
from recombined_skills import Skill


class Task(NamedTuple):
    """Task in the words of its author, and the skills that answer it."""

    sentence: str
    keywords: str
    relevant: frozenset[str]


def read_tasks(data: Path) -> list[Task]:
    """Return the tasks of a folder of data."""
    lines = (data / "queries.jsonl").read_text("utf-8").splitlines()
    return [
        Task(task["sentence"], task["keywords"], frozenset(task["relevant"]))
        for task in map(json.loads, lines)
    ]


def read_skills(data: Path) -> list[Skill]:
    """Return the skills of a folder of data."""
    files = sorted(data.glob("skills/*/*/SKILL.md"))
    posts = [frontmatter.load(str(file)) for file in files]
    return [Skill(str(post["name"]), str(post["description"]), post.content) for post in posts]


def read_tool_queries(data: Path) -> list[Task]:
    """Return the queries of MetaTool, which have one form; none where they are absent."""
    file = data / "metatool" / "queries.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else ()
    return [
        Task(line["query"], line["query"], frozenset([line["tool"]]))
        for line in map(json.loads, lines)
    ]


def read_tools(data: Path) -> list[Skill]:
    """Return the tools of MetaTool as skills without a body."""
    tools = json.loads((data / "metatool" / "tools.json").read_text("utf-8"))
    return [Skill(tool["name"], tool["description"], "") for tool in tools]


def rank_of(names: Sequence[str], relevant: frozenset[str]) -> int:
    """Return the place of the first right skill, from 1; 0 if there is none."""
    return next((place for place, name in enumerate(names, 1) if name in relevant), 0)

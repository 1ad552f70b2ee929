"""Finder: the skill by which an agent searches the skills that its directory has no room for."""

import json
import re
from collections import Counter
from collections.abc import Iterable

STEPS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Numbers of skills that a finder names; between two of them it stays as it is."""
_SUBJECTS, _LEAST = 10, 3
"""Most subjects that it names, and the fewest skills of each."""
_WORD = re.compile(r"[^\W\d_][\w-]{2,23}")
_EMPTY = frozenset(
    "agent agents and for from how skill skills the tool tools use user with".split()
)


def skill_md(name: str, skills: Iterable[tuple[str, list[str]]], program: str, data: str) -> str:
    """Return the SKILL.md of a finder of skills, each with its name and tags.

    Its commands use the program and the data directory. It changes only if the number of skills
    passes a step, or their main subjects change.
    """
    words = [{*tags, *name.split("-")} for name, tags in skills]
    number = max((step for step in STEPS if step <= len(words)), default=None)
    more = f"more than {number:,} skills" if number else "more skills"
    description = (
        f"Searches {more} of this team, not all of which are listed here. Use it before any "
        "task for which no other listed skill is made."
    )
    if subjects := ", ".join(_subjects(words)):
        description += f" Subjects: {subjects}."
    head = f"---\nname: {name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n---\n"
    return head + _BODY.format(command=f'"{program}" --data "{data}"')


def description_in(skill_md: str) -> str:
    """Return the description of a finder's SKILL.md."""
    _, _, line, *_ = skill_md.split("\n")
    return str(json.loads(line.removeprefix("description: ")))


def _subjects(words: Iterable[set[str]]) -> list[str]:
    """Return the most frequent words by letters; their numbers count in powers of two."""
    counted = Counter(
        word
        for each in words
        for word in {part.lower() for part in each}
        if _WORD.fullmatch(word) and word not in _EMPTY
    )
    frequent = [word for word, number in counted.items() if number >= _LEAST]
    frequent.sort(key=lambda word: (-counted[word].bit_length(), word))
    return sorted(frequent[:_SUBJECTS])


_BODY = """
# Search for a skill

1. Search with the task in plain words: with the MCP tool `search_skills` if you have it, else run
   `{command} search --for-model "the task"`.
2. Read the SKILL.md of the best result, and follow it like a listed skill: with the MCP tool
   `read_skill_file`, or by `{command} read NAME`. Other files are read by
   `{command} read NAME PATH`.
3. If no result fits, go on without a skill. If neither way works, tell the user.
"""

"""Finder: the skill by which an agent searches the skills that its directory has no room for."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

STEPS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Numbers of skills that a finder names; between two of them it stays as it is."""
_SUBJECTS, _LEAST = 10, 3
"""Most subjects that it names, and the fewest skills of each."""
_WORD = re.compile(r"[^\W\d_][\w-]{2,23}")
_EMPTY = frozenset(
    "agent agents and for from how skill skills the tool tools use user with".split()
)


def skill_md(
    name: str, skills: Iterable[tuple[str, list[str]]], program: str, data: str, site: str | None
) -> str:
    """Return the SKILL.md of a finder of skills, each with its name and tags.

    Its commands use the program and the data directory, and the site at a URL if there is one. It
    changes only if the number of skills passes a step, or their main subjects change.
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
    return f"{head}\n{_body(program, data, site)}"


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


def _body(program: str, data: str, site: str | None) -> str:
    return "\n".join(
        ["# Search for a skill", "", *_lines(f'"{program}" --data "{data}"', site), ""]
    )


def _lines(command: str, site: str | None) -> Iterator[str]:
    yield "1. Search with the task in plain words, in the first of these ways that you have:"
    yield "   - the MCP tool `search_skills`;"
    yield f'   - `{command} search "the task"`;'
    if site:
        yield f"   - `curl -fsS -G {site}search.json --data-urlencode 'q=the task'`."
    yield "2. Read the SKILL.md of the best result, and follow it like a listed skill:"
    yield "   - with the MCP tool `read_skill_file`;"
    yield f"   - `{command} read NAME`, and `{command} read NAME PATH` for its other files;"
    if site:
        yield "   - at the `location` of the result."
    yield "3. If no result fits, go on without a skill. If no way works, tell the user."

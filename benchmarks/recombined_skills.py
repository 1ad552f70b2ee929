"""Made skills with the vocabulary of real ones; the same seed gives the same bytes.

A made skill has sentences of a few real skills. Words that not all skills have are exchanged for
others of about the same frequency, so that made skills match the words of a task as often as real
ones do, but are about something else.
"""

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SOURCES = 3
"""Real skills from which a made one has its lines."""
MOST_CHARACTERS = 8_000
"""Characters of a made body, at most."""
COMMON = 0.3
"""Share of the real skills from which a word is common, and stays."""

_WORD = re.compile(r"(\w+)")


class Skill(NamedTuple):
    """Text of a skill."""

    name: str
    description: str
    body: str

    def skill_md(self) -> str:
        """Return the text of the SKILL.md."""
        fields = f"name: {self.name}\ndescription: {json.dumps(self.description)}\n"
        return f"---\n{fields}---\n\n{self.body}\n"


def recombined(skills: Sequence[Skill], count: int, seed: int = 7) -> Iterator[Skill]:
    """Make so many skills of the words of real ones."""
    rng = random.Random(seed)
    alike = _words_by_frequency(skills)
    descriptions = [_WORD.split(skill.description) for skill in skills]
    bodies = [[_WORD.split(line) for line in skill.body.splitlines(True)] for skill in skills]
    parts = [part for skill in skills for part in skill.name.split("-")]
    for number in range(count):
        sources = rng.sample(range(len(skills)), SOURCES)
        exchanged: dict[str, str] = {}
        size = min(len(skills[sources[0]].body), MOST_CHARACTERS)
        lines: list[str] = []
        while size > 0:
            lines.append(_other(rng.choice(bodies[rng.choice(sources)]), exchanged, alike, rng))
            size -= len(lines[-1])
        name = "-".join(_other([rng.choice(parts)], exchanged, alike, rng) for _ in range(3))
        yield Skill(
            f"{name.lower()[:50].strip('-')}-{number}",
            _other(descriptions[sources[0]], exchanged, alike, rng),
            "".join(lines),
        )


def _words_by_frequency(skills: Sequence[Skill]) -> dict[str, list[str]]:
    """Return for each word that is not common all words of about its frequency."""
    counts = Counter(
        word for skill in skills for word in set(_WORD.findall(f"{skill.description} {skill.body}"))
    )
    classes: defaultdict[int, list[str]] = defaultdict(list)
    for word, count in sorted(counts.items()):
        if count < COMMON * len(skills):
            classes[int(2 * math.log2(count))].append(word)
    return {word: words for words in classes.values() for word in words}


def _other(
    pieces: Sequence[str],
    exchanged: dict[str, str],
    alike: dict[str, list[str]],
    rng: random.Random,
) -> str:
    """Return a text with its words exchanged, the same word for the same one."""
    for word in pieces:
        if word not in exchanged:
            exchanged[word] = rng.choice(alike[word]) if word in alike else word
    return "".join(exchanged[word] for word in pieces)

"""Parts of a description that a shortened text keeps, and those that it cuts."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

MOST_CHARACTERS = 5_000
"""Characters of a description that are compared; the rest is one cut part."""
TRIED = 8
"""Places of a word that are tried; the one where most of the following words are the same wins."""
# A word, or a single character: also of Chinese, where parts of a run are kept.
_TOKEN = re.compile(r"[^\W\u2e80-\U0010ffff]+|.", re.DOTALL)


class Part(NamedTuple):
    """Run of a description."""

    text: str
    is_kept: bool


@lru_cache(maxsize=2_000)
def parts(description: str, shown: str) -> tuple[Part, ...]:
    """Return a description in runs that the shown text keeps or cuts, in order."""
    compared, rest = description[:MOST_CHARACTERS], description[MOST_CHARACTERS:]
    old, new = _TOKEN.findall(compared), _TOKEN.findall(shown.removesuffix("…"))
    found: list[Part] = []
    end = 0
    for start, stop in _runs(old, new):
        found += [Part("".join(old[end:start]), False), Part("".join(old[start:stop]), True)]
        end = stop
    found.append(Part("".join(old[end:]) + rest, False))
    return tuple(part for part in found if part.text)


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the old words that the new ones repeat, in order; in linear time."""
    places = defaultdict(list)
    for place, word in enumerate(old):
        places[word].append(place)
    after = at = 0
    while at < len(new):
        of_word = places[new[at]]
        first = bisect_left(of_word, after)
        near = [] if new[at].isspace() else of_word[first : first + TRIED]
        if not near:
            at += 1
            continue
        lengths = {place: _same(old, place, new, at) for place in near}
        start = max(near, key=lambda place: lengths[place])
        after = start + lengths[start]
        at += lengths[start]
        yield start, after


def _same(old: Sequence[str], start: int, new: Sequence[str], at: int) -> int:
    """Return how many words are the same from two places on, without spaces at the end."""
    count = 0
    while (
        start + count < len(old) and at + count < len(new) and old[start + count] == new[at + count]
    ):
        count += 1
    while count > 1 and old[start + count - 1].isspace():
        count -= 1
    return count

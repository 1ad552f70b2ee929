"""Words that rules search for, all of them found in one pass over a text."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias

from ahocorasick_rs import BytesAhoCorasick, Implementation

Words: TypeAlias = Mapping[str, Sequence[int]]
"""Searched words in a text, each with its offsets in characters."""

_searched: dict[str, None] = {}


def searched(words: Iterable[str]) -> tuple[str, ...]:
    """Return words in lower case, which `found` searches for from now on."""
    new = tuple(words)
    _searched.update(dict.fromkeys(new))
    return new


def found(text: str) -> Words:
    """Return the searched words in a text.

    ASCII letters match in either case. The time does not depend on the number of words.
    """
    data = text.encode("utf-8", "replace").lower()
    words, automaton = _search(len(_searched))
    matches = automaton.find_matches_as_indexes(data, overlapping=True)
    if not matches:
        return {}
    matches.sort(key=itemgetter(1))
    is_ascii = text.isascii()
    offsets: dict[str, list[int]] = {}
    at = characters = 0
    for number, start, _ in matches:
        characters += start - at if is_ascii else len(data[at:start].decode())
        at = start
        offsets.setdefault(words[number], []).append(characters)
    return offsets


@lru_cache(1)
def _search(count: int) -> tuple[tuple[str, ...], BytesAhoCorasick]:
    """Return the first words, and the search for them by Aho and Corasick (1975)."""
    words = tuple(_searched)[:count]
    data = [word.encode() for word in words]
    return words, BytesAhoCorasick(data, implementation=Implementation.DFA)

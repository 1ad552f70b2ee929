"""Words that rules search for, all of them found in one pass over a text."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, Implementation

_TEXTS = 8  # whose words are remembered: several rules ask about the same text

_searched: dict[str, None] = {}


def searched(words: Iterable[str]) -> tuple[str, ...]:
    """Return words in lower case, which `found` searches for from now on."""
    new = tuple(words)
    _searched.update(dict.fromkeys(new))
    found.cache_clear()
    return new


@lru_cache(_TEXTS)
def found(text: str) -> Mapping[str, Sequence[int]]:
    """Return the searched words in a text, each with its offsets in characters.

    ASCII letters match in either case. The time does not depend on the number of words.
    """
    data = text.encode("utf-8", "replace").lower()
    matches = _automaton(len(_searched)).find_matches_as_indexes(data, overlapping=True)
    if not matches:
        return {}
    matches.sort(key=itemgetter(1))
    words, is_ascii = tuple(_searched), text.isascii()
    offsets: dict[str, list[int]] = {}
    at = characters = 0
    for number, start, _ in matches:
        characters += start - at if is_ascii else len(data[at:start].decode())
        at = start
        offsets.setdefault(words[number], []).append(characters)
    return offsets


@lru_cache(1)
def _automaton(count: int) -> BytesAhoCorasick:
    """Return the search for the first words, by Aho and Corasick (1975)."""
    words = [word.encode() for word in _searched][:count]
    return BytesAhoCorasick(words, implementation=Implementation.DFA)

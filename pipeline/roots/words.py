"""Words that rules search for, all of them found in one pass over a text."""

import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation

MOST = 2_000  # offsets of one word that are kept; an ordinary text has a few
_PIECE = 2**16  # bytes that are searched at once, as every match takes memory …
_LONGEST = 100  # … with those before them in which a word may start, at most

_searched: dict[str, None] = {}


class Words(dict[str, list[int]]):
    """Searched words in a text, each with its offsets in characters."""

    number = 0  # of the words that were searched for
    is_cut = False  # whether one of them has more offsets

    @property
    def is_complete(self) -> bool:
        """Whether no rule has been imported since, so that nothing more can be found."""
        return self.number == len(_searched)

    def between(self, start: int, end: int = sys.maxsize) -> "Words":
        """Return those in a part of the text, with their offsets in it."""
        inner = {word: [at - start for at in self[word] if start <= at < end] for word in self}
        part = Words({word: offsets for word, offsets in inner.items() if offsets})
        part.number, part.is_cut = self.number, self.is_cut
        return part


def searched(words: Iterable[str]) -> tuple[str, ...]:
    """Return words in lower case, which `found` searches for from now on."""
    new = tuple(words)
    _searched.update(dict.fromkeys(new))
    return new


def found(text: bytes) -> Words:
    """Return the searched words in a text in UTF-8.

    ASCII letters match in either case. The time does not depend on the number of words.
    """
    data, is_ascii = text.lower(), text.isascii()
    words, lengths, automaton = _search(len(_searched))
    by_number: defaultdict[int, list[int]] = defaultdict(list)
    is_cut = False
    at = characters = 0
    for piece in range(0, len(data), _PIECE):
        start = max(piece - _LONGEST, 0)
        part = data[start : piece + _PIECE]
        for number, _, end in automaton.find_matches_as_indexes(part, overlapping=True):
            offsets = by_number[number]  # matches are sorted by their end
            if len(offsets) >= MOST:
                is_cut = True
            elif start + end > piece:
                characters += start + end - at if is_ascii else len(data[at : start + end].decode())
                at = start + end
                offsets.append(characters - lengths[number])
    by_word = Words({words[number]: offsets for number, offsets in by_number.items()})
    by_word.number, by_word.is_cut = len(_searched), is_cut
    return by_word


def lower(text: str) -> bytes:
    """Return a text in UTF-8, with ASCII letters in lower case."""
    return text.encode("utf-8", "replace").lower()


@lru_cache(1)
def _search(count: int) -> tuple[tuple[str, ...], list[int], BytesAhoCorasick]:
    """Return the first words, their lengths, and Aho and Corasick's search (1975) for them.

    Its table has 1 MB; one with all transitions has 17, more than a core keeps near.
    """
    words = tuple(_searched)[:count]
    data = [word.encode() for word in words]
    lengths = list(map(len, words))
    return words, lengths, BytesAhoCorasick(data, implementation=Implementation.ContiguousNFA)

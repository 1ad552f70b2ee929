"""Words that rules search for, all of them found in one pass over a text."""

from collections.abc import Iterable
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation

MOST = 2_000  # offsets of one word that are kept; an ordinary text has a few

_searched: dict[str, None] = {}


class Words(dict[str, list[int]]):
    """Searched words in a text, each with its offsets in characters."""

    number = 0  # of the words that were searched for

    @property
    def is_complete(self) -> bool:
        """Whether no rule has been imported since, so that nothing more can be found."""
        return self.number == len(_searched)

    def after(self, start: int) -> "Words":
        """Return those in the rest of the text, with their offsets in it."""
        rest = Words({word: [at - start for at in self[word] if at >= start] for word in self})
        rest.number = self.number
        return rest


def searched(words: Iterable[str]) -> tuple[str, ...]:
    """Return words in lower case, which `found` searches for from now on."""
    new = tuple(words)
    _searched.update(dict.fromkeys(new))
    return new


def found(text: str) -> Words:
    """Return the searched words in a text.

    ASCII letters match in either case. The time does not depend on the number of words.
    """
    data = lower(text)
    words, automaton = _search(len(_searched))
    is_ascii = text.isascii()
    offsets = Words()
    offsets.number = len(_searched)
    at = characters = 0
    for number, _, end in automaton.find_matches_as_indexes(data, overlapping=True):  # by their end
        found_at = offsets.setdefault(word := words[number], [])
        if len(found_at) < MOST:
            characters += end - at if is_ascii else len(data[at:end].decode())
            at = end
            found_at.append(characters - len(word))
    return offsets


def lower(text: str) -> bytes:
    """Return a text in UTF-8, with ASCII letters in lower case."""
    return text.encode("utf-8", "replace").lower()


@lru_cache(1)
def _search(count: int) -> tuple[tuple[str, ...], BytesAhoCorasick]:
    """Return the first words, and the search for them by Aho and Corasick (1975)."""
    words = tuple(_searched)[:count]
    data = [word.encode() for word in words]
    return words, BytesAhoCorasick(data, implementation=Implementation.DFA)

"""Words that rules search for, all of them found in one pass over a text."""

import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from threading import Lock

from hyperscan import HS_FLAG_CASELESS, Database

MOST = 2_000  # offsets of one word that are kept; an ordinary text has a few

_SCANNING = Lock()  # a database scans one text at a time
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
    words, sizes, database = _search(len(_searched))
    by_number: defaultdict[int, list[int]] = defaultdict(list)

    def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        if len(offsets := by_number[number]) <= MOST:
            offsets.append(end - sizes[number])

    with _SCANNING:
        database.scan(text, match_event_handler=note)
    by_word = Words({words[number]: offsets[:MOST] for number, offsets in by_number.items()})
    by_word.number = len(words)
    by_word.is_cut = any(len(offsets) > MOST for offsets in by_number.values())
    if not text.isascii():
        _count_characters(text, by_word)
    return by_word


def _count_characters(text: bytes, by_word: Words) -> None:
    """Replace the offsets in bytes by those in characters."""
    characters: dict[int, int] = {}
    at = count = 0
    for offset in sorted({*chain.from_iterable(by_word.values())}):
        count += len(text[at:offset].decode())
        characters[offset], at = count, offset
    for offsets in by_word.values():
        offsets[:] = map(characters.__getitem__, offsets)


def lower(text: str) -> bytes:
    """Return a text in UTF-8, with ASCII letters in lower case."""
    return text.encode("utf-8", "replace").lower()


@lru_cache(1)
def _search(count: int) -> tuple[tuple[str, ...], list[int], Database]:
    """Return the first words, their sizes in bytes, and the compiled search for them."""
    words = tuple(_searched)[:count]
    data = [word.encode() for word in words]
    database = Database()
    database.compile(data, flags=HS_FLAG_CASELESS, literal=True)
    return words, [*map(len, data)], database

"""Shorter descriptions of skills: a passage, then the rarest other words as tags.

The rarity of words is in a table that `benchmarks/word_rarity.py` made. As it does not depend on
the catalog, neither do texts that are chosen by it.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from catalog.text import truncate
from catalog.text.search_terms import CJK_RUN, CJK_WEIGHT, is_stop_word
from catalog.text.truncate import ELLIPSIS, shorten

RAREST = 7.0
"""Rarity in bits of a word that is not in the table: fewer than one skill of 100 contains it."""

_TABLE = Path(__file__).with_name("word_rarity.txt")


def rarity(word: str) -> float:
    """Return the rarity of a word in bits: one more for half as many skills that contain it."""
    return _table().get(word.lower(), RAREST)


@cache
def _table() -> dict[str, float]:
    table: dict[str, float] = {}
    for line in _TABLE.read_text("utf-8").splitlines():
        bits, *words = line.split(" ")
        table |= dict.fromkeys(words, float(bits))
    return table


READABLE = 60
"""Characters from which a passage of a description is shown; with fewer, only tags."""
MOST_CHARACTERS = 5_000
"""Characters of a description that are read to shorten it."""
TAGS = 0.3
"""Share of the room for tags beside a passage, which never take more than READABLE characters."""
BETWEEN_TAGS, BEFORE_TAGS = ", ", " · "

_WORD = re.compile(r"\w+(?:[-.']\w+)*[+#]*")
_SAYS_LITTLE = re.compile(r"[\d.]+|[a-z]", re.IGNORECASE)  # numbers and single letters
_PART = re.compile(r"[^\W_]+")
# Words without a meaning of their own, but not where the character is part of another word, such as
# in 目的, 了解 and 合并. Characters that mostly are, such as 会 in 会议, are not among them.
_CJK_FUNCTION = re.compile(
    "(?:以及|可以|能够|用于|对于|关于|为了|[一这那每]个|(?<!目)的|了(?!解)|(?<![参给])与(?!会)"
    "|(?<![涉普])及(?![时格])|在(?![线职校])|等(?![级待价于])|(?<!合)并(?![发行购])|和(?![解谐平])"
    "|[或是从到把被将这那])+"
)
_MOST_CJK = 6  # characters of a run between function characters that is one word
_ROOM_OF_A_WORD = 4  # added to its length: short words do not win by their length alone


class _Word(NamedTuple):
    """Word of a description that may be shown."""

    text: str
    start: int  # its position
    value: float  # bits a character


def shorten_description(description: str, name: str, room: int) -> str:
    """Return a one-line description in at most `room` characters.

    That is the whole of it if it fits. Otherwise it is a passage in the author's words, with an
    ellipsis wherever something is missing, then a dot and a few of its other words as tags; or
    tags alone if the room is small.
    """
    if len(description) <= room:
        return description
    start = truncate.opening(description)
    before, text = ELLIPSIS if start else "", description[start:MOST_CHARACTERS]
    if text and len(before) + len(text) <= room:
        return before + text
    if room < (READABLE // CJK_WEIGHT if _is_cjk(text) else READABLE):
        return _tags(text, name, room)
    for_tags = min(int(room * TAGS), READABLE)
    passage = before + shorten(text, room - for_tags - len(before))
    left = min(room - len(passage) - len(BEFORE_TAGS), READABLE)
    tags = _tags(text, f"{name} {passage}", left) if passage.endswith(ELLIPSIS) else ""
    return f"{passage}{BEFORE_TAGS}{tags}" if tags else passage


def _is_cjk(text: str) -> bool:
    """Return whether most of a text is Chinese, Japanese or Korean."""
    return not text.isascii() and 2 * sum(map(len, CJK_RUN.findall(text))) > len(text)


def _tags(text: str, known: str, room: int) -> str:
    """Return the words of a text that are not known yet and say most, in its order."""
    left = room + len(BETWEEN_TAGS)
    chosen: list[_Word] = []
    for word in sorted(_words(text, known), key=lambda word: (-word.value, word.start)):
        if len(word.text) + len(BETWEEN_TAGS) <= left:
            chosen.append(word)
            left -= len(word.text) + len(BETWEEN_TAGS)
    return BETWEEN_TAGS.join(word.text for word in sorted(chosen, key=lambda word: word.start))


def _words(text: str, known: str) -> list[_Word]:
    words = []
    seen = {_stem(part) for part in _PART.findall(known.lower())}
    for match in _WORD.finditer(text):
        word = match.group()
        parts = [word] if word.isalnum() else _PART.findall(word)
        stems = {_stem(part.lower()) for part in parts}
        if seen.issuperset(stems) or _says_little(word.lower()):
            continue
        seen |= stems
        if not word.isascii() and CJK_RUN.search(word):
            words += _cjk_words(word, match.start(), known)
        else:
            words.append(_word(word, match.start(), max(map(rarity, parts))))
    return words


def _cjk_words(run: str, start: int, known: str) -> list[_Word]:
    """Return the parts of a run between function characters, which are about a word each."""
    parts = [part[:_MOST_CJK] for part in _CJK_FUNCTION.split(run)]
    distinct = [part for part in dict.fromkeys(parts) if len(part) > 1 and part not in known]
    return [_word(part, start + run.index(part), RAREST) for part in distinct]


def _word(text: str, start: int, bits: float) -> _Word:
    return _Word(text, start, bits / (len(text) + _ROOM_OF_A_WORD))


def _stem(word: str) -> str:
    """Return a word without its English ending, to recognise other forms of it."""
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _says_little(word: str) -> bool:
    return word in truncate.SAYS_NOTHING or is_stop_word(word) or bool(_SAYS_LITTLE.fullmatch(word))

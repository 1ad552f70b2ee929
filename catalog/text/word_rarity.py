"""Rarity of words in skills, from a table that is part of the program.

`benchmarks/word_rarity.py` made the table. As it does not depend on the catalog, neither do texts
that are chosen by it.
"""

import re
from functools import cache
from pathlib import Path

RAREST = 7.0
"""Rarity in bits of a word that is not in the table: fewer than one skill of 100 contains it."""

_TABLE = Path(__file__).with_name("word_rarity.txt")
_WORD = re.compile(r"[^\W\d_]\w*")


def words_of(text: str) -> list[str]:
    """Return the words of a text that begin with a letter."""
    return _WORD.findall(text)


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

"""Search terms of Chinese, Japanese and Korean text, for storage and for queries.

SQLite's tokenizers treat a run of CJK characters, with letters beside it, as one word. So each run
is stored as its overlapping pairs of characters, and a CJK query is cut into pairs, too.
"""

import re
from unicodedata import normalize

_CJK = (
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]+"
)
CJK_RUN = re.compile(_CJK)
"""Kana, Han (with its extensions and compatibility forms) and Hangul syllables."""
_FULL_WIDTH = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_PARTS = re.compile(f"({_CJK})")

CJK_WEIGHT = 3
"""Number of Latin characters that carry as much meaning as one CJK character."""


LONGEST_GRAM = 4
"""Characters of the longest gram: a client that cuts no query finds words of that length."""


def grams(text: str) -> str:
    """Return the runs of one to four characters in the text's CJK runs, separated by spaces.

    The words beside them and words in full-width letters are among them, as in `terms`.
    """
    return _terms(text, LONGEST_GRAM)


def terms(text: str) -> str:
    """Return the pairs of the text's CJK runs and words beside them, separated by spaces.

    They are in their order. The last character of a run follows alone, so each character is the
    beginning of a term. Words in full-width letters follow in plain ones. Other words are left out:
    the tokenizer finds them.
    """
    return _terms(text, 0)


def _terms(text: str, longest: int) -> str:
    """Return the pairs of CJK runs, or with `longest` their runs of up to so many characters."""
    if text.isascii():
        return ""
    found = []
    if CJK_RUN.search(text):
        found = [
            term
            for word in re.findall(r"\w+", normalize("NFKC", text))
            if CJK_RUN.search(word)
            for part, is_cjk in parts(word)
            for term in (_cut(part, longest) if is_cjk else [part])
        ]
    if _FULL_WIDTH.search(text):
        found += [
            normalize("NFKC", word)
            for word in re.findall(r"\w+", text)
            if _FULL_WIDTH.search(word) and not CJK_RUN.search(word)
        ]
    return " ".join(found)


def _cut(run: str, longest: int) -> list[str]:
    if not longest:
        return [run[start : start + 2] for start in range(len(run))]
    lengths = range(1, min(longest, len(run)) + 1)
    return [run[start : start + n] for n in lengths for start in range(len(run) - n + 1)]


def parts(word: str) -> list[tuple[str, bool]]:
    """Return the parts of a word in their order, and whether each is a CJK run."""
    split = enumerate(_PARTS.split(word))
    return [(part, number % 2 == 1) for number, part in split if part]


def pieces(run: str) -> list[str]:
    """Return the terms to search for a CJK run: its pairs, or its only character."""
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]

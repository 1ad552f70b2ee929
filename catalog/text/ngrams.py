"""Search terms of Chinese, Japanese and Korean text, for storage and for queries.

SQLite's tokenizers treat a run of CJK characters as one word. So each run is stored as all its
pieces of one to four characters, and a CJK query is cut into pieces of at most four.
"""

import re

LONGEST = 4

CJK_RUN = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""Kana, Han (with its extensions and compatibility forms) and Hangul syllables."""


def terms(text: str) -> str:
    """Return the distinct 1- to 4-grams of the text's CJK runs, separated by spaces."""
    if text.isascii():
        return ""
    grams: dict[str, None] = {}  # keeps the order, so equal texts have equal terms
    for run in CJK_RUN.findall(text):
        for start in range(len(run)):
            for end in range(start + 1, min(start + LONGEST, len(run)) + 1):
                grams[run[start:end]] = None
    return " ".join(grams)


def pieces(run: str) -> list[str]:
    """Return stored terms that together cover a CJK run: itself, or all its 4-grams."""
    if len(run) <= LONGEST:
        return [run]
    return [run[start : start + LONGEST] for start in range(len(run) - LONGEST + 1)]

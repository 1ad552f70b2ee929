"""Search terms of Chinese, Japanese and Korean text, for storage and for queries.

SQLite's tokenizers treat a run of CJK characters as one word. So each run is stored as its
overlapping pairs of characters, and a CJK query is cut into pairs, too.
"""

import re

CJK_RUN = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""Kana, Han (with its extensions and compatibility forms) and Hangul syllables."""

CJK_WEIGHT = 3
"""Number of Latin characters that carry as much meaning as one CJK character."""


def terms(text: str) -> str:
    """Return the pairs of the text's CJK runs in their order, separated by spaces.

    The last character of a run follows alone, so each character is the beginning of a term.
    """
    if text.isascii():
        return ""
    return " ".join(
        run[start : start + 2] for run in CJK_RUN.findall(text) for start in range(len(run))
    )


def pieces(run: str) -> list[str]:
    """Return the terms to search for a CJK run: its pairs, or its only character."""
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]

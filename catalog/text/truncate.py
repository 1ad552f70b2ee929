"""Truncation of a text, after a sentence if possible, else after a word."""

import re
import unicodedata
from itertools import pairwise

ELLIPSIS = "…"

_SENTENCE_END = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])[\"'”’)\]]*(?=\s+[^\sa-z])|[。！？｡][」』”’）】]*"
)
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_OPENING = "([{<\"'“‘（「『【《〈"
_LOOSE = " \t,;:-–—/|&+=，、；：·" + _OPENING


def shorten(text: str, limit: int) -> str:
    """Return a text if it has at most `limit` characters, else its beginning and `…`.

    The cut is after the last sentence that ends in the second half of the limit, else after the
    last word that does, else anywhere except inside a composed character. Chinese and Japanese
    have no spaces between words and may be cut between any two characters. The result never has
    more than `limit` characters; a limit of 0 gives "".
    """
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    # If a clean end would use less than half of the room, more words are better.
    for cut in (_after_sentence(text, limit), _after_word(text, limit)):
        if len(cut) > limit // 2:
            return cut
    return _anywhere(text, limit - len(ELLIPSIS)) + ELLIPSIS


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each without whitespace around it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    parts = (text[start:end].strip() for start, end in pairwise([0, *ends, len(text)]))
    return [part for part in parts if part]


def _after_sentence(text: str, limit: int) -> str:
    """Return as many whole sentences as fit, with the ellipsis after a space as in prose."""
    best = ""
    for match in _SENTENCE_END.finditer(text[: limit + 1]):
        whole = text[: match.end()]
        cut = f"{whole}{'' if _is_wide(whole[-1]) else ' '}{ELLIPSIS}"
        if len(cut) <= limit:
            best = cut
    return best


def _after_word(text: str, limit: int) -> str:
    for end in range(limit - len(ELLIPSIS), 0, -1):
        if text[end].isspace() or (_may_break(text, end) and not _attaches(text[end])):
            return text[:end].rstrip(_LOOSE) + ELLIPSIS
    return ""


def _may_break(text: str, end: int) -> bool:
    return _is_wide(text[end - 1]) or _is_wide(text[end])


def _anywhere(text: str, end: int) -> str:
    while end and _attaches(text[end]):
        end -= 1
    return text[:end]


def _is_wide(char: str) -> bool:
    return bool(_WIDE.match(char))


def _attaches(char: str) -> bool:
    """Return whether a character belongs to the one before it: marks, skin tones, closing signs."""
    return (
        unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or char in "。！？｡，、；：」』”’）】》〉"
    )

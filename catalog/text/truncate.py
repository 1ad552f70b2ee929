"""The beginning of a text, and words of a description that say nothing."""

import re
import unicodedata
from itertools import pairwise

from catalog.text.search_terms import is_stop_word

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
        cut = f"{whole}{'' if _WIDE.match(whole[-1]) else ' '}{ELLIPSIS}"
        if len(cut) <= limit:
            best = cut
    return best


def _after_word(text: str, limit: int) -> str:
    for end in range(limit - len(ELLIPSIS), 0, -1):
        wide = _WIDE.search(text, end - 1, end + 1)  # a line may break beside it
        if text[end].isspace() or (wide and not _attaches(text[end])):
            return text[:end].rstrip(_LOOSE) + ELLIPSIS
    return ""


def _anywhere(text: str, end: int) -> str:
    while end and _attaches(text[end]):
        end -= 1
    return text[:end]


def _attaches(char: str) -> bool:
    """Return whether a character belongs to the one before it: marks, skin tones, closing signs."""
    return (
        unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or char in "。！？｡，、；：」』”’）】》〉"
    )


_WORD = re.compile(r"\w+")

_SUBJECT = r"(?:(?:an?|the|any|your) )?(?:users?|developers?|people|person|someone|you|they)"
_WISH = (
    r"(?:(?:explicitly|specifically|also) )?(?:asks?|asked|asking|wants?|needs?|needed|requests?"
    r"|says?|mentions?|is|are|would like|wishes|has|have)"
)
_RELATION = r"(?:you|to|about|for|with|help|how|that|any|an?|the)"
_OCCASION = (
    r"(?:(?:immediately|automatically|proactively|only|also|it|this) )*"
    r"(?:whenever|when|if|to|for|any ?time)"
)
_SKILL = r"(?:the|this|a|an) (?:skill|agent skill|tool|agent|capability)"
_ENGLISH = re.compile(
    r"(?:\|\s*)?(?:(?:always|also|only|must|should|can) )?"
    r"(?:"
    rf"(?:be )?(?:use|used|invoke|invoked|trigger|triggers|apply|load|activate|call)"
    rf"(?: (?:{_SKILL}|this|it|these))? {_OCCASION}\b"
    rf"|{_SKILL} (?:(?:should|must|can|may) be used|is used|is designed|helps|provides|allows"
    rf"|enables|is)(?: {_OCCASION})?\b"
    rf"|(?:this|it) (?:helps|provides|allows|enables)\b"
    r")"
    rf"(?: {_SUBJECT}\b)?(?: {_WISH}\b)?(?: {_RELATION}\b)* *",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:当|如果|每当)?(?:用户|你)(?:想要|想|需要|要求|希望|提到|询问|说|请求)+"
    r"|时?[，,]?(?:请)?(?:使用|调用|触发|启用)(?:此|本|该|这个)(?:技能|功能)"
    r"|(?:此|本|该|这个)(?:技能|功能)(?:可以|能够)?(?:用于|提供|帮助)?"
)
SAYS_NOTHING = frozenset(
    """
    activate agent ai analyze analyzes anyone anything applicable appropriate ask asked asks assist
    assistant assists call capabilities capability claude complete content customer data description
    developer different do does everything feature features file files function functionality goes
    hand handle handles help helper helpful helps here information insert invoke invoked load manage
    manages mention mentions needed perform performs person placeholder proactively process
    processes produce produces provide provided provides relevant related request requests required
    skill skills someone something stuff support supports task tasks tbd thing things todo tool
    tools trigger triggers use used useful user users utility various want wants when whenever work
    works
    """.split()
)
"""Words that fit any skill, which alone say nothing of one."""


def opening(text: str) -> int:
    """Return the length of a stock opening such as "Use this skill when the user wants to"."""
    match = _ENGLISH.match(text) or _CHINESE.match(text)
    return match.end() if match else 0


def says_nothing(description: str, name: str) -> bool:
    """Return whether a description only repeats the name in words that say nothing."""
    text = description.lower()
    if not text.isascii():
        text = _CHINESE.sub("", text)
    of_name = _WORD.findall(name.lower())
    known = {*of_name, *(f"{word}s" for word in of_name)}
    words = (match.group() for match in _WORD.finditer(text))  # nearly always the first suffices
    return all(word in known or word in SAYS_NOTHING or is_stop_word(word) for word in words)

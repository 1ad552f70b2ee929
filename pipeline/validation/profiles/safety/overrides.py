"""Sentences in English that tell an agent to ignore its instructions; dangers.toml has others."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pipeline.roots.words import Words, lower, searched
from pipeline.validation.profiles.safety.codes import INSTRUCTION_OVERRIDE, JUDGED_IN_PART
from pipeline.validation.profiles.safety.context import is_quoted, is_warned_of
from pipeline.validation.profiles.safety.dangers import Danger

_MOST = 200  # sentences, with those of which the text warns; an ordinary text has none
_AROUND = 400  # characters beside a word that are looked at; no sentence is longer
_BEFORE = 60  # bytes before a sentence that are checked, too

_GAP = r"""[\s*_"']{1,9}"""
_ALL = (
    rf"(?:(?:all|any|every|everything|each|the|your|these|those|of|my|and|to|other){_GAP}){{0,5}}"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|original|former)"
_RANK = r"(?:system|safety|developer|security|operator|built-in)"
_ORDERS = (
    r"(?:instruction|prompt|rule|guideline|directive|constraint|order|restriction|programming|training"
    rf"|messages?\b(?!{_GAP}(?:about|from|in|of|on)\b)|commands)s?\b"
)
_NO_RULE = r"(?:instruction|prompt|guideline|directive|order|restriction|command)s?\b"
_SINGLE = r"(?!(?:instruction|prompt|rule|guideline|directive|command|constraint|order)\b)"
_LATER = rf"(?:above|before|so{_GAP}far|(?:that{_GAP})?you{_GAP}(?:were|have|are|got|received))\b"
_WHICH = (
    rf"{_GAP}{_SINGLE}{_ALL}(?:"
    rf"(?:{_EARLIER}|{_RANK})(?:{_GAP}(?:and|or){_GAP}\w{{1,20}}|{_GAP}{_RANK})?{_GAP}{_ORDERS}"
    rf"|{_NO_RULE}{_GAP}{_LATER})"
)
_YOURS = rf"{_GAP}(?:all{_GAP}(?:of{_GAP})?)?your{_GAP}(?:own{_GAP})?{_ORDERS}"
_NOT = r"(?:\b(?:not|never|without|rather\sthan|instead\sof)|n't|n’t)"
_NAMED = r"\b(?:like|such\sas|says?|saying|called|named)"  # before an example
_NOW = tuple(f"{gap}now" for gap in " \t\n\r\f\v*_\"'")


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Pattern of such sentences, in lower-case UTF-8, from a word that they all have.

    Every part of it is bounded, so that ordinary and hostile texts are searched quickly.
    """

    words: tuple[str, ...]
    pattern: re.Pattern[bytes]  # starts with one of the words
    lead: re.Pattern[bytes]  # the part of the sentence before it
    not_after: re.Pattern[bytes]


def _phrase(words: Iterable[str], pattern: str, lead: str = "", not_after: str = "(?!)") -> _Phrase:
    return _Phrase(
        searched(words),
        re.compile(pattern.encode()),
        re.compile(rf"(?:{lead})\Z".encode()),
        re.compile(rf"(?:{not_after})\Z".encode()),
    )


def _unless_negated(start: str, pattern: str, lead: str = "") -> _Phrase:
    not_after = rf"{_NOT}{_GAP}(?:\w{{1,20}}{_GAP})?|{_NAMED}{_GAP}"
    return _phrase([start], start + pattern, lead, not_after)


_PHRASES = (
    _unless_negated(
        "ignor", rf"(?:e|ing)(?:{_WHICH}|{_YOURS}|{_GAP}everything{_GAP}(?:above|before|said)\b)"
    ),
    _unless_negated("disregard", rf"(?:ing)?(?:{_WHICH}|{_YOURS})"),
    _unless_negated(
        "forget", rf"(?:{_WHICH}|{_YOURS}|{_GAP}everything{_GAP}(?:above|before|you)\b)"
    ),
    _unless_negated(
        "overrid",
        rf"(?:e|ing){_GAP}(?:all{_GAP}(?:of{_GAP})?)?(?:your{_GAP}(?:own{_GAP})?{_NO_RULE}"
        rf"|(?:your|all){_GAP}{_ALL}{_RANK}{_GAP}{_ORDERS})",
    ),
    _unless_negated(
        "bypass",
        rf"(?:ing)?{_GAP}(?:your|all){_GAP}(?:{_RANK}{_GAP})?"
        r"(?:instruction|guideline|restriction|guardrail|safety)s?\b",
    ),
    _unless_negated("aside", rf"{_GAP}{_ALL}(?:{_RANK}|your){_GAP}{_ORDERS}", rf"set{_GAP}"),
    _unless_negated(
        "pretend",
        rf"(?:ing)?{_GAP}(?:that{_GAP})?(?:your|the{_GAP}{_RANK}){_GAP}{_ALL}"
        rf"(?:{_RANK}{_GAP})?{_ORDERS}(?:{_GAP}do(?:n(?:'|’)t|{_GAP}not){_GAP}exist)?",
    ),
    _phrase(
        ["follow", "obey"],
        rf"(?:follow|obey)(?:ing)?{_GAP}"
        rf"(?:your|the|any|all){_GAP}{_ALL}(?:{_EARLIER}|{_RANK}){_GAP}{_ORDERS}",
        lead=rf"(?:do{_GAP}not|don(?:'|’)t|never|stop){_GAP}",
        not_after=rf"{_NAMED}{_GAP}",
    ),
    _phrase(
        ["no longer appl", "are void", "are cancelled", "are canceled", "are revoked"],
        rf"(?:no{_GAP}longer{_GAP}apply|are{_GAP}(?:void|cancell?ed|revoked))\b",
        lead=rf"(?:your{_GAP}{_ALL}(?:{_EARLIER}{_GAP}|{_RANK}{_GAP})?{_ORDERS}"
        rf"|{_ORDERS}{_GAP}(?:that{_GAP})?you{_GAP}were{_GAP}given){_GAP}",
    ),
    _phrase(
        ["over your"],
        rf"over{_GAP}your{_GAP}(?:{_RANK}|{_EARLIER}){_GAP}{_ORDERS}",
        lead=rf"(?:precedence|priority){_GAP}",
    ),
    _phrase(
        _NOW,
        rf"""[\s*_"']now{_GAP}(?:an?{_GAP}|in{_GAP})?(?:(?:developer|god|jailbreak){_GAP}mode"""
        rf"|no{_GAP}longer{_GAP}(?:bound|limited|restricted|subject|required|an?|under)|dan|unrestricted"
        rf"|unfiltered|uncensored|jailbroken|free{_GAP}(?:of|from|to)"
        rf"|(?:\w{{1,20}}{_GAP}){{1,3}}without{_GAP}(?:any{_GAP})?(?:rule|limit|restriction|filter)s)\b",
        lead=rf"""you{_GAP}are[\s*_"']{{0,8}}""",
    ),
)


def overrides(text: str, words: Words) -> Iterator[Danger]:
    """Yield each sentence that tries to override the agent's instructions, in lower case.

    `words` are those found in the text.
    """
    sentences = (
        _sentence(text, at, phrase)
        for word, offsets in words.items()
        for phrase in _BY_WORD.get(word, ())
        for at in offsets
    )
    for number, (start, end) in enumerate(islice(filter(None, sentences), _MOST + 1)):
        kind = INSTRUCTION_OVERRIDE if number < _MOST else JUDGED_IN_PART
        is_named = is_quoted(text, start, end) or is_warned_of(text, start, end)
        yield Danger(kind, text[start:end].lower(), start, end, is_named and number < _MOST)


_BY_WORD: Mapping[str, Sequence[_Phrase]] = {
    word: [phrase for phrase in _PHRASES if word in phrase.words]
    for each in _PHRASES
    for word in each.words
}


def _sentence(text: str, at: int, phrase: _Phrase) -> tuple[int, int] | None:
    """Return the offsets of a sentence whose word is at an offset; None if it is another one."""
    match = phrase.pattern.match(lower(text[at : at + _AROUND]))
    before = lower(text[max(at - _AROUND, 0) : at])
    if not match or not (lead := phrase.lead.search(before)):
        return None
    start = lead.start()
    if phrase.not_after.search(before[max(start - _BEFORE, 0) : start]):
        return None
    return at - len(before[start:].decode()), at + len(match[0].decode("utf-8", "replace"))

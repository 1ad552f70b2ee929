"""Sentences that tell an agent to ignore its instructions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pipeline.roots.words import found, searched
from pipeline.validation.profiles.safety.codes import INSTRUCTION_OVERRIDE
from pipeline.validation.profiles.safety.context import is_quoted, is_warned_of
from pipeline.validation.profiles.safety.dangers import Danger

_MOST = 1_000  # matches of one phrase; an ordinary text has none
_BEFORE = 60  # bytes before a match that are checked, too

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
    """Pattern of such sentences, in lower-case UTF-8, which all have one of the words.

    It starts with a literal, to which the regex engine skips, and every part of it is bounded, so
    that ordinary and hostile texts are searched quickly.
    """

    words: tuple[str, ...]
    pattern: re.Pattern[bytes]
    only_after: re.Pattern[bytes] | None = None
    never_after: re.Pattern[bytes] | None = None


def _phrase(
    words: Iterable[str], pattern: str, only_after: str = "", never_after: str = ""
) -> _Phrase:
    return _Phrase(
        searched(words),
        re.compile(pattern.encode()),
        re.compile(rf"(?:{only_after})\Z".encode()) if only_after else None,
        re.compile(rf"(?:{never_after})\Z".encode()) if never_after else None,
    )


def _unless_negated(start: str, pattern: str) -> _Phrase:
    never_after = rf"{_NOT}{_GAP}(?:\w{{1,20}}{_GAP})?|{_NAMED}{_GAP}"
    return _phrase([start], start + pattern, never_after=never_after)


_ORDERS_ZH = "(?:指令|指示|提示|规则|規則|要求|设定|設定|命令)"
_OF_OLD = "以上|之前|先前|前面|上述|此前|所有|全部|一切|原有|系统|系統|你的|您的"
_DROPPED_ZH = rf"[^\n]{{0,12}}?(?:{_OF_OLD})[^\n]{{0,24}}?{_ORDERS_ZH}"  # the figures are bytes
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
    _unless_negated("set", rf"{_GAP}aside{_GAP}{_ALL}(?:{_RANK}|your){_GAP}{_ORDERS}"),
    _unless_negated(
        "pretend",
        rf"(?:ing)?{_GAP}(?:that{_GAP})?(?:your|the{_GAP}{_RANK}){_GAP}{_ALL}"
        rf"(?:{_RANK}{_GAP})?{_ORDERS}(?:{_GAP}do(?:n['’]t|{_GAP}not){_GAP}exist)?",
    ),
    _phrase(
        ["follow", "obey"],
        rf"(?:do{_GAP}not|don['’]t|never|stop){_GAP}(?:follow|obey)(?:ing)?{_GAP}"
        rf"(?:your|the|any|all){_GAP}{_ALL}(?:{_EARLIER}|{_RANK}){_GAP}{_ORDERS}",
        never_after=rf"{_NAMED}{_GAP}",
    ),
    _phrase(
        ["no longer appl", "are void", "are cancelled", "are canceled", "are revoked"],
        rf"(?:your{_GAP}{_ALL}(?:{_EARLIER}{_GAP}|{_RANK}{_GAP})?{_ORDERS}"
        rf"|{_ORDERS}{_GAP}(?:that{_GAP})?you{_GAP}were{_GAP}given){_GAP}"
        rf"(?:no{_GAP}longer{_GAP}apply|are{_GAP}(?:void|cancell?ed|revoked))\b",
    ),
    _phrase(
        ["over your"],
        rf"(?:precedence|priority){_GAP}over{_GAP}your{_GAP}(?:{_RANK}|{_EARLIER}){_GAP}{_ORDERS}",
    ),
    _phrase(
        _NOW,
        rf"you{_GAP}are{_GAP}now{_GAP}(?:an?{_GAP}|in{_GAP})?(?:(?:developer|god|jailbreak){_GAP}mode"
        rf"|no{_GAP}longer{_GAP}(?:bound|limited|restricted|subject|required|an?|under)|dan|unrestricted"
        rf"|unfiltered|uncensored|jailbroken|free{_GAP}(?:of|from|to)"
        rf"|(?:\w{{1,20}}{_GAP}){{1,3}}without{_GAP}(?:any{_GAP})?(?:rule|limit|restriction|filter)s)\b",
    ),
    _phrase(
        ["ignorier"],
        r"ignorier(?:e|en|t)?\s+(?:bitte\s+)?(?:alle|sämtliche|deine|die)\s+"
        r"(?:(?:vorherigen|bisherigen|obigen|früheren)\s+)?(?:anweisungen|regeln|vorgaben)",
    ),
    _phrase(
        ["ignor", "olvida", "oublie"],
        r"(?:ignor(?:a|á|e|ez)|olvida|oublie[sz]?)\s+(?:todas\s+)?(?:toutes\s+)?(?:las|tus|les|tes|vos)\s+"
        r"(?:instrucciones|reglas|instructions|consignes|règles)\s+"
        r"(?:anteriores|previas|précédentes|antérieures|ci-dessus)",
    ),
    _phrase(
        ["不要"],
        rf"不要(?:再)?(?:遵守|遵循|听从|聽從|理会)[^\n]{{0,12}}?(?:{_OF_OLD})[^\n]{{0,24}}?{_ORDERS_ZH}",
    ),
    _phrase(["忽略"], rf"忽略{_DROPPED_ZH}"),
    _phrase(["无视"], rf"无视{_DROPPED_ZH}"),
    _phrase(["無視"], rf"無視{_DROPPED_ZH}"),
    _phrase(["忘记", "忘記", "忘掉"], rf"忘(?:记|記|掉){_DROPPED_ZH}"),
    _phrase(
        ["指示"],
        r"指示(?:や[^\n]{1,30}?)?(?:を|は)(?:すべて|全て)?(?:無視|忘れ)(?!しな|せず)",
        only_after="(?:以前|前|上記|これまで|今まで|すべて|全て|元)の(?:すべての|全ての)?",
    ),
    _phrase(
        ["지시"],
        r"지시(?:사항)?(?:를|을|은|는)?\s?(?:모두|전부)?\s?(?:무시(?!하지)|잊(?!지))",
        only_after=r"(?:이전|위|모든|앞선|기존)(?:의)?\s?(?:모든\s?)?",
    ),
)


_WORDS = frozenset(word for phrase in _PHRASES for word in phrase.words)


def overrides(text: str) -> Iterator[Danger]:
    """Yield each sentence that tries to override the agent's instructions, in lower case.

    A quoted sentence, and one of which the text warns, is an example.
    """
    in_text = found(text).keys()
    if _WORDS.isdisjoint(in_text):
        return
    phrases = [phrase for phrase in _PHRASES if not in_text.isdisjoint(phrase.words)]
    data = text.encode("utf-8", "replace").lower()  # of ASCII letters only: lengths stay
    for phrase in phrases:
        for match in islice(phrase.pattern.finditer(data), _MOST):
            start = match.start()
            before = data[max(start - _BEFORE, 0) : start]
            if phrase.only_after and not phrase.only_after.search(before):
                continue
            if phrase.never_after and phrase.never_after.search(before):
                continue
            offset, words = len(data[:start].decode()), match[0].decode("utf-8", "replace")
            end = offset + len(words)
            if not (is_quoted(text, offset, end) or is_warned_of(text, offset, end)):
                yield Danger(INSTRUCTION_OVERRIDE, words, offset, end)

"""Rules of advice: recommendations of the specification and its guides.

Descriptions are searched for words for actions, words for occasions and empty phrases. English,
Chinese, Japanese and Korean each have their own words. A description in any other language is not
judged, because a missing word means nothing there.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from catalog.model.finding import Finding
from catalog.text import humanize, tokens, truncate
from catalog.text.search_terms import CJK_RUN, CJK_WEIGHT
from catalog.text.visible import quoted
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.advice import codes
from pipeline.validation.profiles.advice.file_rules import (
    files_are_referenced,
    license_file_exists,
    names_fit_windows,
    references_are_direct,
    references_exist,
)
from pipeline.validation.skill import Skill

BODY_LINES = 500
BODY_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure."""

SHORTEST_DESCRIPTION = 40
"""In characters; a Chinese, Japanese or Korean one counts as three. Source: skilldrop."""

RESERVED_WORDS = ("anthropic", "claude")
"""Source: Claude Platform documentation, Agent Skills, Skill structure."""


def body_is_not_empty(skill: Skill) -> Iterator[Finding]:
    """Find a body without text."""
    if skill.parsed.frontmatter is not None and not skill.parsed.body:
        yield skill.body.finding(codes.BODY_EMPTY, offset=0)


def body_length(skill: Skill) -> Iterator[Finding]:
    """Find a SKILL.md of more than 500 lines, or with a body of more than about 5,000 tokens."""
    lines = skill.parsed.text.rstrip().count("\n") + 1
    if lines <= BODY_LINES and skill.estimated_tokens <= BODY_TOKENS:  # with the frontmatter
        return
    cost = tokens.estimate_long(skill.parsed.body)
    if lines > BODY_LINES or cost > BODY_TOKENS:
        yield skill.body.finding(
            codes.BODY_TOO_LONG,
            f"{skill.document} has {lines:,} lines and its body about {cost:,} tokens; "
            f"{BODY_LINES} and {BODY_TOKENS:,} are recommended.",
            offset=0,
        )


def description_tells_enough(skill: Skill) -> Iterator[Finding]:
    """Find a description that does not say what the skill does, or when to use it.

    One finding, the worst: a better description fixes them all.
    """
    declared = skill.declared
    description = declared.description
    if not description:
        return
    if truncate.says_nothing(description, declared.name or ""):
        yield skill.finding(codes.DESCRIPTION_SAYS_NOTHING, field="description")
        return
    if _weight(description) < SHORTEST_DESCRIPTION:
        message = f"description has only {humanize.count(len(description), 'character')}."
        yield skill.finding(codes.DESCRIPTION_SHORT, message, field="description")
        return
    # only a model needs the occasion, and `when_to_use` names it
    has_no_need = skill.frontmatter.get("when_to_use") or declared.disable_model_invocation
    if not has_no_need and not _says_when(description):
        yield skill.finding(codes.DESCRIPTION_WITHOUT_WHEN, field="description")
        return
    verb = _vague_verb(description)
    if verb is not None:
        weak = f"description has no verb more concrete than {quoted(verb)}." if verb else None
        yield skill.finding(codes.DESCRIPTION_VAGUE, weak, field="description")


def can_be_invoked(skill: Skill) -> Iterator[Finding]:
    """Find a skill that neither a model nor a user can invoke."""
    if skill.declared.disable_model_invocation and skill.declared.user_invocable is False:
        yield skill.finding(codes.NOBODY_CAN_INVOKE, field="user-invocable")


def name_is_not_reserved(skill: Skill) -> Iterator[Finding]:
    """Find a name that contains a vendor's reserved word."""
    name = (skill.declared.name or "").lower()
    for word in RESERVED_WORDS:
        if word in name:
            message = f"name contains the reserved word {quoted(word)}."
            yield skill.finding(codes.NAME_RESERVED, message, field="name")


ADVICE = Profile(
    "advice",
    codes.TYPES,
    (
        name_is_not_reserved,
        description_tells_enough,
        can_be_invoked,
        body_is_not_empty,
        body_length,
        references_exist,
        license_file_exists,
        files_are_referenced,
        references_are_direct,
        names_fit_windows,
    ),
)


# Vocabulary of descriptions

_WORDS: Mapping[str, Sequence[str]] = {
    name: words.split()
    for name, words in tomllib.loads(
        Path(__file__).with_name("vocabulary.toml").read_text("utf-8")
    ).items()
}
_WORD = re.compile("[a-z]{2,}")
_LEADING = re.compile(r"(?:^|[.!?:;\u2013\u2014]\s|\b(?:to|that|which)\s)\s*([a-z]{2,})")
_SAYS_LITTLE = re.compile(
    r"\b(?:help|deal|work|assist)(?:s|ing)? (?:\w+ )?(?:with|in)\b"
    r"|\b(?:handl|manag|process|support|provid|facilitat)(?:es?|ing|s)?\b"
)
_ENGLISH = frozenset(
    "and by do for from how into of or that the this to use used using when with you your".split()
)
_WORDS_TO_ONE = 12  # a text with at least one of these in so many words counts as English


def _forms(verbs: Iterable[str]) -> frozenset[str]:
    """Return the verbs with their regular or nearly regular endings."""
    forms: set[str] = set()
    for verb in verbs:
        stem = verb[:-1] if verb[-1] in "ey" else verb
        plural = f"{stem}ies" if verb[-1] == "y" else f"{verb}es"
        double = verb + verb[-1]
        forms |= {verb, f"{verb}s", plural, f"{stem}ied"}
        forms |= {start + end for start in (verb, stem, double) for end in ("ing", "ed")}
    return frozenset(forms)


_ALSO_NOUNS = _forms(_WORDS["also_nouns"])
"""Counted as verbs only at the start of a sentence, or after "to" and "that" …"""

_CONCRETE = {
    *_forms(_WORDS["concrete"]),
    *_WORDS["irregular"],
    *(form for form in _ALSO_NOUNS if form.endswith(("ing", "ed"))),  # … but these ending always
}

_OF_ACTIVITIES = ("ing", "ize", "izes", "ise", "ises", "ify", "ifies")
_WHEN = frozenset(_WORDS["when"])
_INPUT, _OUTPUT = frozenset(_WORDS["input"]), frozenset(_WORDS["output"])
_OCCASION = re.compile(
    r"\b(?:call|run) (?:it|this)\b|\be\.g\.|\bfor (?:any|every|each|people|users|teams|anyone"
    r"|those)\b|\b(?:useful|ideal|handy|suited|meant) (?:for|to)\b"
)

_CJK_WHEN = re.compile(
    "用于|用於|用来|用來|使用|适用|適用|场景|場景|当(?!前|地|然|下|日)|當(?!前|地|然|下|日)|时候|時候|需要"
    "|触发|觸發|调用|調用|如果|之前|之后|之後|要求|想要|输入|輸入|输出|輸出|返回|とき|時|際|場合|ため|たら|必要|前に|後に|入力|出力|依頼"
    "|때|사용|경우|위해|위한|필요|요청|호출|전에|후에|입력|출력|활용|용도|시 "
)


def _weight(text: str) -> int:
    """Return the length in characters, with each CJK character weighted by `CJK_WEIGHT`."""
    if text.isascii():
        return len(text)
    wide = sum(map(len, CJK_RUN.findall(text)))
    return len(text) + (CJK_WEIGHT - 1) * wide


def _vague_verb(text: str) -> str | None:
    """Return the weak verb of a text without a concrete one, or "" if it has no verb.

    None if the text has a concrete verb, or is in a language that is not judged.
    """
    lower = text.lower()
    words = _WORD.findall(lower)
    if _does_something(lower, words):
        return None
    if not text.isascii() and CJK_RUN.search(text):
        is_concrete = any(word in text for word in _WORDS["cjk_concrete"])
        return None if is_concrete else next((w for w in _WORDS["cjk_little"] if w in text), None)
    weak = _SAYS_LITTLE.search(lower)
    if weak:
        return weak[0]
    return "" if _is_english(words) else None


def _says_when(text: str) -> bool:
    """Return whether a text names the occasion for the skill, or its input and output.

    True if the text is in a language that is not judged.
    """
    if not text.isascii() and CJK_RUN.search(text):
        return bool(_CJK_WHEN.search(text)) or _english_says_when(_WORD.findall(text.lower()))
    lower = text.lower()
    words = _WORD.findall(lower)
    return _english_says_when(words) or bool(_OCCASION.search(lower)) or not _is_english(words)


def _does_something(lower: str, words: list[str]) -> bool:
    if not _CONCRETE.isdisjoint(words):
        return True
    if not _ALSO_NOUNS.isdisjoint(_LEADING.findall(lower)):
        return True
    return any(
        (word.endswith(_OF_ACTIVITIES) and len(word) > 5 and word not in _WORDS["not_activities"])
        or (word.endswith(("ation", "ction", "rsion")) and word not in _WORDS["not_done"])
        for word in words
    )


def _english_says_when(words: list[str]) -> bool:
    if not _WHEN.isdisjoint(words):
        return True
    return not (_INPUT.isdisjoint(words) or _OUTPUT.isdisjoint(words))


def _is_english(words: list[str]) -> bool:
    return _WORDS_TO_ONE * sum(word in _ENGLISH for word in words) >= max(len(words), 1)

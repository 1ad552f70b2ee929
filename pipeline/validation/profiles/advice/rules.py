"""Rules of advice: recommendations of the specification and its guides.

Descriptions are searched for words for occasions and purposes. English, Chinese, Japanese and
Korean each have their own words. A longer description in any other language is not judged, because
a missing word means nothing there.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
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
    references_are_sound,
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
    is_long = lines > BODY_LINES or skill.estimated_tokens > BODY_TOKENS  # with the frontmatter
    cost = tokens.estimate_long(skill.parsed.body) if is_long else 0
    if lines > BODY_LINES or cost > BODY_TOKENS:
        yield skill.body.finding(
            codes.BODY_TOO_LONG,
            f"{skill.document} has {lines:,} lines and its body about {cost:,} tokens; "
            f"{BODY_LINES} and {BODY_TOKENS:,} are recommended.",
            offset=0,
        )


def description_tells_enough(skill: Skill) -> Iterator[Finding]:
    """Find a description that says nothing, or does not say when to use the skill.

    One finding, the worst: a better description fixes them all.
    """
    declared = skill.declared
    description = declared.description
    if not description:
        return
    if truncate.says_nothing(description, declared.name or ""):
        yield skill.finding(codes.DESCRIPTION_SAYS_NOTHING, field="description")
        return
    # only a model needs the occasion, and `when_to_use` names it
    has_no_need = skill.frontmatter.get("when_to_use") or declared.disable_model_invocation
    if has_no_need or _STUB.match(description) or _says_when(description):
        return
    if _weight(description) < SHORTEST_DESCRIPTION:
        message = f"description has only {humanize.count(len(description), 'character')}."
        yield skill.finding(codes.DESCRIPTION_SHORT, message, field="description")
    elif _is_judged(description):
        yield skill.finding(codes.DESCRIPTION_WITHOUT_WHEN, field="description")


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
        references_are_sound,
        license_file_exists,
        files_are_referenced,
        names_fit_windows,
    ),
)


# Vocabulary of descriptions

_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        Path(__file__).with_name("vocabulary.toml").read_text("utf-8")
    ).items()
}
_WORD = re.compile("[a-z]{2,}")
_ENGLISH = frozenset(
    "and by do for from how into of or that the this to use used using when with you your".split()
)
_WORDS_TO_ONE = 12  # a text with at least one of these in so many words counts as English

_STUB = re.compile(
    r"\W*(?:deprecated|retired|sunset|obsolete|superseded|removed|renamed|alias)\b"
    r"(?: (?:stub|shim|alias|skill|name))?(?: *[^\w\s]| (?:for|of|by|to|in|since|use)\b|$)"
    r"|(?:this skill )?forwards to\b",
    re.IGNORECASE,
)
"""A skill that only says which other one took its place, and is short on purpose."""

_NEGATED = re.compile(r"(?:not|never(?<!whenever)|without|n['’]t)\b(?: (?!only|just)[\w-]+){1,2}")
_OCCASION = re.compile(
    r"\b(?:call|run) (?:it|this)\b|\be\.g\.|\bfor (?:any|every|each|people|users|teams|anyone"
    r"|those|beginners)\b|\b(?:useful|ideal|handy|suited|meant) (?:for|to)\b"
    r"|\bfor (?:[\w/-]+ ){0,2}[\w-]+ing\b|[,—–] for \w"
    r"|-to-(?:text|speech|code|image|video|audio|markdown|pdf|html|json|sql)\b"
    r"|(?<!\bhow )(?<!\bguide )(?<!\baccess )\bto (?!(?:\w+ing|an?|the|any|all|each|other|your)\b)"
    r"[a-z]+ (?!(?:and|as|at|by|for|in|on|or|using|via|with)\b)[a-z]"
)
"""The occasion or purpose of a skill, "for reviewing …", ", for cancer research.", "to build …"."""

_CJK_WHEN = re.compile(
    "(?<!不)(?:用于|用於|用来|用來|使用|适用|適用|场景|場景|当(?!前|地|然|下|日)|當(?!前|地|然|下|日)|时候|時候|需要"
    "|触发|觸發|调用|調用|如果|之前|之后|之後|要求|想要|输入|輸入|输出|輸出|返回|以便|为了|爲了|期间|期間"
    "|(?<![实及临暂小])时(?![间代刻区长序])|[将把].{1,30}?[为成]|とき|時|際|場合|ため|たら|から|必要|前に|後に|入力|出力|依頼"
    "|(?:审[核查计]|[检檢][查测測]|分析|扫描|掃描|分类|分類).{1,200}?(?:提供|[给給]出|生成).{0,30}(?:建[议議]|[报報]告|[结結]果|清[单單])"
    "|때|사용|경우|위해|위한|필요|요청|호출|전에|후에|입력|출력|활용|용도|시 )"
)


def _weight(text: str) -> int:
    """Return the length in characters, with each CJK character weighted by `CJK_WEIGHT`."""
    wide = sum(map(len, CJK_RUN.findall(text)))
    return len(text) + (CJK_WEIGHT - 1) * wide


def _says_when(text: str) -> bool:
    """Return whether a text names the occasion or purpose of the skill, or its input and output."""
    if not text.isascii() and CJK_RUN.search(text) and _CJK_WHEN.search(text):
        return True
    text = _NEGATED.sub("", text.lower())
    words = _WORD.findall(text)
    if not _WORDS["when"].isdisjoint(words) or _OCCASION.search(text):
        return True
    return not (_WORDS["input"].isdisjoint(words) or _WORDS["output"].isdisjoint(words))


def _is_judged(text: str) -> bool:
    """Return whether a text is English, Chinese, Japanese or Korean."""
    words = _WORD.findall(text.lower())
    is_english = _WORDS_TO_ONE * sum(word in _ENGLISH for word in words) >= max(len(words), 1)
    return is_english or bool(CJK_RUN.search(text))

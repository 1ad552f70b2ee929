"""Rules of advice: recommendations of the specification and its guides."""

from collections.abc import Iterator

from catalog.model.fields import DESCRIPTION_LIMIT
from catalog.model.finding import Finding
from catalog.text import humanize, tokens, truncate
from catalog.text.search_terms import CJK_WEIGHT
from catalog.text.visible import quoted
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.advice import codes
from pipeline.validation.profiles.advice.file_rules import (
    files_are_referenced,
    references_are_short,
    references_exist,
)
from pipeline.validation.profiles.advice.vocabulary import (
    generic_phrase,
    says_when,
    vague_verb,
    weight,
)
from pipeline.validation.skill import Skill

BODY_LINES = 500
BODY_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure."""

SHORTEST_DESCRIPTION = 40
ENOUGH_DESCRIPTION = 600
TOLERATED_DESCRIPTION = 720
"""In characters; a Chinese, Japanese or Korean one counts as three. Source: skilldrop."""

RESERVED_WORDS = ("anthropic", "claude")
"""Source: Claude Platform documentation, Agent Skills, Skill structure."""


def body_is_not_empty(skill: Skill) -> Iterator[Finding]:
    """Find a body without text."""
    if skill.parsed.frontmatter is not None and not skill.parsed.body:
        yield skill.body.finding(codes.BODY_EMPTY, offset=0)


def body_length(skill: Skill) -> Iterator[Finding]:
    """Find a body of more than 500 lines or about 5,000 tokens."""
    body = skill.parsed.body
    lines = body.count("\n") + 1
    if lines <= BODY_LINES and skill.estimated_tokens <= BODY_TOKENS:  # with the frontmatter
        return
    cost = tokens.estimate_long(body)
    if lines > BODY_LINES or cost > BODY_TOKENS:
        yield skill.body.finding(
            codes.BODY_TOO_LONG,
            f"The body has {lines:,} lines and about {cost:,} tokens; "
            f"{BODY_LINES} and {BODY_TOKENS:,} are recommended.",
            offset=0,
        )


def description_tells_enough(skill: Skill) -> Iterator[Finding]:
    """Find a description that does not say what the skill does, or when to use it.

    One that says nothing, or is too short to say both, has no other finding here: a better
    description fixes them all.
    """
    declared = skill.declared
    description = declared.description
    if not description:
        return
    if truncate.says_nothing(description, declared.name or ""):
        yield skill.finding(codes.DESCRIPTION_SAYS_NOTHING, field="description")
        return
    if weight(description) < SHORTEST_DESCRIPTION:
        message = f"description has only {humanize.count(len(description), 'character')}."
        yield skill.finding(codes.DESCRIPTION_SHORT, message, field="description")
        return
    verb = vague_verb(description)
    if verb is not None:
        weak = f"description has no verb more concrete than {quoted(verb)}." if verb else None
        yield skill.finding(codes.DESCRIPTION_VAGUE, weak, field="description")
    if skill.frontmatter.get("when_to_use") or declared.disable_model_invocation:
        return  # only a model needs the occasion, and `when_to_use` names it
    if not says_when(description):
        yield skill.finding(codes.DESCRIPTION_WITHOUT_WHEN, field="description")


def description_length(skill: Skill) -> Iterator[Finding]:
    """Find a description that is much longer than necessary, but within the specification."""
    description = skill.declared.description or ""
    size = weight(description)
    if size > TOLERATED_DESCRIPTION and len(description) <= DESCRIPTION_LIMIT:
        is_wide = size > len(description)
        enough = ENOUGH_DESCRIPTION // CJK_WEIGHT if is_wide else ENOUGH_DESCRIPTION
        message = f"description is {len(description):,} characters; about {enough} are enough."
        yield skill.finding(codes.DESCRIPTION_LONG, message, field="description")


def description_is_specific(skill: Skill) -> Iterator[Finding]:
    """Find phrases that fit any other skill as well."""
    phrase = generic_phrase(skill.declared.description or "")
    if phrase:
        message = f"description says {quoted(phrase)}, which fits any other skill as well."
        yield skill.finding(codes.DESCRIPTION_GENERIC, message, field="description")


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
        description_length,
        description_is_specific,
        can_be_invoked,
        body_is_not_empty,
        body_length,
        references_exist,
        files_are_referenced,
        references_are_short,
    ),
)

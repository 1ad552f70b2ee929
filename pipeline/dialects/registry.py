"""Registry of profiles and dialects; their rules are imported only when a folder is judged."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.model.finding import FindingType
from pipeline.dialects.apexbridge import codes as apexbridge
from pipeline.validation.codes import READING
from pipeline.validation.profiles.advice import codes as advice
from pipeline.validation.profiles.claude_code import codes as claude_code
from pipeline.validation.profiles.safety import codes as safety
from pipeline.validation.profiles.spec import codes as spec

if TYPE_CHECKING:
    from pipeline.validation.profile import Dialect, Dialects, Profile

OF_ALL_SKILLS: Mapping[str, Sequence[FindingType]] = {
    "spec": spec.TYPES,
    "advice": advice.TYPES,
    "safety": safety.TYPES,
    "claude-code": claude_code.TYPES,
}
"""Finding types by profile; roots and `validate` ask for these unless others are named."""

OF_PROFILES: Mapping[str, Sequence[FindingType]] = {
    **OF_ALL_SKILLS,
    "apexbridge": apexbridge.TYPES,
}
"""Finding types by profile: those for every skill, then those of the dialects."""

PURPOSES: Mapping[str, str] = {
    "spec": "The Agent Skills specification, to the letter; always checked.",
    "advice": "Recommendations of the specification and its guides that help agents find and "
    "follow a skill.",
    "safety": "Text that could deceive a reader, mislead an agent or run on its machine. Skills "
    "are untrusted text; after such a finding a person should check the line.",
    "claude-code": "Fields and lines that Claude Code reads differently from their apparent "
    "meaning.",
    "apexbridge": apexbridge.PURPOSE,
}
"""Purpose of each profile, as Markdown for a page of docs/reference/."""

OWNERS: Mapping[str, str] = {"apexbridge": apexbridge.OWNER}
"""The system of each dialect, by the name of its profile."""

EXAMPLES = (Path(apexbridge.__file__).with_name("rule_examples.yml"),)
"""Files with examples of the dialects' findings."""

DEFAULT_PROFILES: tuple[str, ...] = tuple(OF_ALL_SKILLS)

FINDING_TYPES: tuple[FindingType, ...] = (*READING, *chain.from_iterable(OF_PROFILES.values()))
"""Types of all findings that a verdict may contain."""


@cache
def dialects() -> "Dialects":
    """Return all dialects; a new one is registered here."""
    from pipeline.dialects.apexbridge.dialect import APEXBRIDGE

    return (APEXBRIDGE,)


def dialect_named(name: str) -> "Dialect[Any]":
    """Return the dialect with a profile of this name; raises StopIteration if there is none."""
    return next(dialect for dialect in dialects() if dialect.profile.name == name)


@cache
def profiles() -> "Mapping[str, Profile]":
    """Return all profiles by name, in the order of OF_PROFILES."""
    from pipeline.validation.profiles.advice.rules import ADVICE
    from pipeline.validation.profiles.claude_code.rules import CLAUDE_CODE
    from pipeline.validation.profiles.safety.rules import SAFETY
    from pipeline.validation.profiles.spec.rules import SPEC

    of_dialects = (dialect.profile for dialect in dialects())
    return {profile.name: profile for profile in (SPEC, ADVICE, SAFETY, CLAUDE_CODE, *of_dialects)}


@cache
def profiles_named(names: tuple[str, ...]) -> "tuple[Profile, ...]":
    """Return the profiles of these names; raises KeyError for an unknown one."""
    return tuple(profiles()[name] for name in names)

"""Which rules each profile consists of, and asking them all of a skill."""

from collections.abc import Iterable, Mapping

from catalog.record import Finding
from pipeline.rules import (
    advice,
    apexbridge,
    apexbridge_body,
    apexbridge_files,
    claude_code,
    safety,
    spec,
)
from pipeline.rules.skill import Rule, Skill

PROFILES: Mapping[str, tuple[Rule, ...]] = {
    "spec": spec.RULES,
    "advice": advice.RULES,
    "safety": safety.RULES,
    "claude-code": claude_code.RULES,
    "apexbridge": apexbridge.RULES + apexbridge_files.RULES + apexbridge_body.RULES,
}

FOR_ALL = ("spec", "advice", "safety", "claude-code")
"""The profiles that make sense for every skill; the others are for packages of one system."""


def check(skill: Skill, profiles: Iterable[str]) -> tuple[Finding, ...]:
    """Return what the rules of these profiles find, all at once and in the profiles' order.

    A profile that does not exist raises KeyError.
    """
    return tuple(
        found for profile in profiles for rule in PROFILES[profile] for found in rule(skill)
    )

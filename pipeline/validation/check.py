"""Which rules each profile consists of, and asking them all of a skill."""

from collections.abc import Iterable, Mapping

from catalog.model.finding import Finding
from pipeline.dialects.apexbridge import body_rules, field_rules, file_rules
from pipeline.validation.profiles.advice import rules as advice_rules
from pipeline.validation.profiles.claude_code import rules as claude_code_rules
from pipeline.validation.profiles.safety import rules as safety_rules
from pipeline.validation.profiles.spec import rules as spec_rules
from pipeline.validation.skill import Rule, Skill

PROFILES: Mapping[str, tuple[Rule, ...]] = {
    "spec": spec_rules.RULES,
    "advice": advice_rules.RULES,
    "safety": safety_rules.RULES,
    "claude-code": claude_code_rules.RULES,
    "apexbridge": field_rules.RULES + file_rules.RULES + body_rules.RULES,
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

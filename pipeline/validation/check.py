"""Check of a skill against the rules of profiles."""

from collections.abc import Iterable

from catalog.model.finding import Finding
from pipeline.validation.profile import Profile
from pipeline.validation.skill import Skill


def check(skill: Skill, profiles: Iterable[Profile]) -> tuple[Finding, ...]:
    """Return all findings of the profiles' rules, in the order of the profiles."""
    rules = (rule for profile in profiles for rule in profile.rules)
    return tuple(finding for rule in rules for finding in rule(skill))

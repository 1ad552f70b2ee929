"""The rules of profiles, asked of a skill."""

from collections.abc import Iterable

from catalog.model.finding import Finding
from pipeline.validation.profile import Profile
from pipeline.validation.skill import Skill


def check(skill: Skill, profiles: Iterable[Profile]) -> tuple[Finding, ...]:
    """Return what the rules of these profiles find, all at once and in the profiles' order."""
    return tuple(found for profile in profiles for rule in profile.rules for found in rule(skill))

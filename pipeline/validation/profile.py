"""A profile: a named set of rules."""

from dataclasses import dataclass

from catalog.model.finding import FindingType
from pipeline.validation.skill import Rule


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Named set of rules, with the types of their findings."""

    name: str  # "claude-code"
    types: tuple[FindingType, ...]
    rules: tuple[Rule, ...]

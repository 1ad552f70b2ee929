"""A profile: rules that are asked together, by one name."""

from dataclasses import dataclass

from catalog.model.finding import FindingType
from pipeline.validation.skill import Rule


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Rules that are asked together, and the types of the findings that they make."""

    name: str  # "claude-code"
    types: tuple[FindingType, ...]
    rules: tuple[Rule, ...]

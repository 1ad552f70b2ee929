"""Validation with all registered dialects, and with profiles by name."""

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from catalog.model.finding import Finding
from catalog.model.skill import Place, Verdict
from catalog.model.values import Acceptance
from pipeline.dialects.registry import dialects, profiles_named
from pipeline.parsing.document import Parsed
from pipeline.roots.snapshot import Snapshot
from pipeline.validation import declare as validation_declare
from pipeline.validation import verdict
from pipeline.validation.profile import Dialects, Ruleset
from pipeline.validation.skill import Declaration, Skill


def public_functions(module: ModuleType) -> set[Any]:
    """Return the public functions and classes that a module defines."""
    return {
        value
        for name, value in vars(module).items()
        if callable(value)
        and getattr(value, "__module__", "") == module.__name__
        and not name.startswith("_")
    }


def judge(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Iterable[str],
) -> Verdict:
    """Return the verdict on a skill folder."""
    asked = profiles_named(tuple(profiles))
    assessed = verdict.assess(
        snapshot, parsed, place, acceptance=acceptance, profiles=asked, dialects=dialects()
    )
    return verdict.verdict_of(assessed, snapshot, parsed, place)


def check(skill: Skill, profiles: Iterable[str]) -> tuple[Finding, ...]:
    """Return the findings of the rules of these profiles."""
    return Ruleset.of(profiles_named(tuple(profiles))).check(skill)


def declare(frontmatter: Mapping[str, Any], named: Dialects | None = None) -> Declaration:
    """Return the fields of frontmatter without quoted values, with every dialect named."""
    named = dialects() if named is None else named
    return validation_declare.declare(frontmatter, frozenset(), dialects(), named)

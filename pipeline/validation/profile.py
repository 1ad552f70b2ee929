"""A profile: a named set of rules, of which some findings reject a skill."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from catalog.model.finding import Finding, FindingType
from catalog.model.values import Acceptance
from pipeline.validation.codes import FOLDER_UNREADABLE, READING
from pipeline.validation.skill import Rule, Skill


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Named set of rules, with the types of their findings."""

    name: str  # "claude-code"
    types: Sequence[FindingType]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Profiles to check a skill against, and the consequences of their findings."""

    profiles: tuple[Profile, ...]
    names: frozenset[str]  # of the profiles, and "reading"
    rejecting: Mapping[str, frozenset[Acceptance]]  # by a finding's code, where it rejects

    @classmethod
    @lru_cache
    def of(cls, profiles: tuple[Profile, ...]) -> "Ruleset":
        """Return the rule set of some profiles."""
        types = chain(READING, *(profile.types for profile in profiles))
        return cls(
            profiles=profiles,
            names=frozenset(("reading", *(profile.name for profile in profiles))),
            rejecting={kind.code: kind.rejects for kind in types},
        )

    def check(self, skill: Skill) -> tuple[Finding, ...]:
        """Return all findings of the profiles' rules, in the order of the profiles."""
        rules = chain.from_iterable(profile.rules for profile in self.profiles)
        return tuple(finding for rule in rules for finding in rule(skill))

    def rejects(self, findings: Iterable[Finding], acceptance: Acceptance) -> bool:
        """Return whether one of the findings rejects the folder."""
        return any(self._is_reason(finding, acceptance) for finding in findings)

    def in_order(self, findings: Iterable[Finding], acceptance: Acceptance) -> tuple[Finding, ...]:
        """Return the findings that reject the folder first, each part by file and line."""
        return tuple(
            sorted(
                findings,
                key=lambda finding: (
                    not self._is_reason(finding, acceptance),
                    finding.path or "",
                    finding.line or 0,
                    finding.column or 0,
                ),
            )
        )

    def with_rejection(
        self, findings: tuple[Finding, ...], acceptance: Acceptance
    ) -> tuple[Finding, ...]:
        """Return the findings in order, with a rejecting one added if there is none."""
        if not self.rejects(findings, acceptance):
            findings = (*findings, FOLDER_UNREADABLE.at())
        return self.in_order(findings, acceptance)

    def _is_reason(self, finding: Finding, acceptance: Acceptance) -> bool:
        return finding.severity == "error" and acceptance in self.rejecting[finding.code]

"""Profiles to check a skill against, and which of their findings reject it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from catalog.model.finding import Finding
from catalog.model.values import Acceptance
from pipeline.validation.codes import FOLDER_UNREADABLE
from pipeline.validation.profile import Profile
from pipeline.validation.reading_types import READING


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Profiles to check a skill against, and the consequences of their findings."""

    profiles: tuple[Profile, ...]
    names: frozenset[str]  # of the profiles, and "reading"
    rejecting: Mapping[str, frozenset[Acceptance]]  # by a finding's code, where it rejects

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
        """Return the findings in order, with one added if none of them rejects the folder."""
        if not self.rejects(findings, acceptance):
            findings = (*findings, FOLDER_UNREADABLE.at())
        return self.in_order(findings, acceptance)

    def _is_reason(self, finding: Finding, acceptance: Acceptance) -> bool:
        return finding.severity == "error" and acceptance in self.rejecting[finding.code]


@lru_cache
def of(profiles: tuple[Profile, ...]) -> Ruleset:
    """Return the rule set of some profiles."""
    types = chain(READING, *(profile.types for profile in profiles))
    return Ruleset(
        profiles=profiles,
        names=frozenset(("reading", *(profile.name for profile in profiles))),
        rejecting={kind.code: kind.rejects for kind in types},
    )

"""A profile is a named set of rules; a dialect adds the fields that one system reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Generic, TypeAlias

from catalog.model.fields import F
from catalog.model.finding import Finding, FindingType
from catalog.model.values import Acceptance, Json
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


@dataclass(frozen=True, slots=True)
class OldLayout:
    """Content of a folder, as far as the plan depends on it."""

    folder: str  # its name
    document: str  # SKILL.md, or the variant that was found
    skill_md: bytes
    files: frozenset[str]  # paths
    folders: frozenset[str]  # names of the folders directly in it
    texts: Mapping[str, str]  # by the paths of the files that the conversion reads, if present


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned changes; none if the folder is a package already or cannot become one."""

    steps: tuple[str, ...] = ()  # described in words, in order
    moves: Mapping[str, str] = field(default_factory=dict)  # path → path
    writes: Mapping[str, bytes] = field(default_factory=dict)  # path → content, after the moves
    folders: tuple[str, ...] = ()  # to create
    findings: tuple[Finding, ...] = ()
    refused: bool = False

    @property
    def changes_something(self) -> bool:
        """Whether a step changes files, rather than only explain why something stays."""
        return bool(self.moves or self.writes or self.folders)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dialect(Generic[F]):
    """Fields that one system defines, its profile, and the record that the catalog stores.

    The fields are read in addition to the common ones, which are `Declared`.
    """

    owner: str  # the system, as messages name it
    profile: Profile  # its name is also the dialect's name
    model: type[F]  # of the fields whose values are read
    fields: frozenset[str]  # the names of all fields that it defines
    is_package: Callable[[Mapping[str, Json]], bool] = lambda _: False
    """Whether a frontmatter declares a package of this system, without a profile that says so."""
    is_extensible: bool = False  # whether its packages may declare fields of their own
    allowed: frozenset[str] = frozenset()  # codes of the specification's errors that it permits
    values: Callable[[Mapping[str, Json], frozenset[str]], Mapping[str, Json]] = (
        lambda frontmatter, _: frontmatter
    )
    """The frontmatter as the system reads it, from SKILL.md's and the paths of quoted values."""
    record: Callable[[F], object | None] = lambda _: None
    """The record of the fields for this system alone, as the catalog stores it, if any."""
    priority: Callable[[F], float | None] = lambda _: None
    """The declared priority, from 0 to 1, higher first."""
    search_words: Callable[[F], Iterable[str | None]] = lambda _: ()
    """The declared words and phrases that find a skill as its tags do."""
    skeleton: Mapping[str, str] = field(default_factory=dict)
    """Texts of a new package by path; name, words, title and intent in braces are filled in."""
    planned: Callable[[OldLayout], Plan] = lambda _: Plan()
    """The plan that converts an older layout to a package; it is empty for a converted folder."""
    read_for_plan: frozenset[str] = frozenset()  # paths, beside SKILL.md, whose text the plan needs


Dialects: TypeAlias = tuple[Dialect[Any], ...]

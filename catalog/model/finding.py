"""Findings, their types, and those that the catalog itself adds."""

from dataclasses import dataclass
from typing import NamedTuple

from catalog.model.values import Acceptance, Json, Severity

ALWAYS: frozenset[Acceptance] = frozenset({"strict", "lenient", "permissive"})
UNLESS_PERMISSIVE: frozenset[Acceptance] = frozenset({"strict", "lenient"})
IF_STRICT: frozenset[Acceptance] = frozenset({"strict"})
NEVER: frozenset[Acceptance] = frozenset()

SPECIFICATION = "Agent Skills specification"
CLIENT_GUIDE = "Agent Skills guide for client implementers"
CLAUDE_CODE = "Claude Code documentation, Skills"
OURS = "skilldrop"


class Finding(NamedTuple):
    """Diagnostic with its place and advice."""

    code: str  # a stable slug
    severity: Severity
    profile: str  # set of rules
    message: str
    fix: str
    field: str | None = None
    path: str | None = None  # of the file, relative to the skill folder
    line: int | None = None  # from 1
    column: int | None = None  # from 1
    before: str | None = None  # of a repair: the text as written …
    after: str | None = None  # … and as it was read

    def as_json(self) -> dict[str, Json]:
        """Return the fields that are not None."""
        return {key: value for key, value in self._asdict().items() if value is not None}


@dataclass(frozen=True, slots=True)
class FindingType:
    """Type of the findings of one code, and their factory."""

    code: str  # a stable slug
    severity: Severity
    profile: str  # "reading" for findings before any rule runs
    rejects: frozenset[Acceptance]  # acceptances under which one finding rejects a folder
    summary: str  # one sentence: what is wrong
    fix: str  # what to do next
    source: str  # document and section

    def at(
        self,
        message: str | None = None,
        *,
        fix: str | None = None,
        field: str | None = None,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> Finding:
        """Return a finding of this type; message and fix default to the type's own."""
        return Finding(
            code=self.code,
            severity=self.severity,
            profile=self.profile,
            message=message or self.summary,
            fix=fix or self.fix,
            field=field,
            path=path,
            line=line,
            column=column,
            before=before,
            after=after,
        )


# Findings of the catalog. Only these depend on earlier content or on other skills; all others
# depend on the folder alone.

_SOURCE = f"{OURS}, publication"

LAST_GOOD_VERSION_STANDS = FindingType(
    "last-good-version-stands",
    "warning",
    "reading",
    NEVER,
    "The newest content was rejected, so the last good version stays published.",
    "Fix the errors of this skill; its new content is then published automatically.",
    _SOURCE,
)
VERSION_HELD = FindingType(
    "version-held",
    "info",
    "reading",
    NEVER,
    "The skill is held at an earlier version by `skilldrop rollback`.",
    "Run `skilldrop unpin` with its name to publish the content of its folder.",
    _SOURCE,
)
NAME_CONFUSABLE = FindingType(
    "name-confusable",
    "warning",
    "safety",
    NEVER,
    "The name looks like that of another active skill, or mixes scripts within a word.",
    "Check that it is the skill you want; rename one of the two in letters of one script.",
    _SOURCE,
)
AWAITS_REVIEW = FindingType(
    "awaits-review",
    "warning",
    "reading",
    NEVER,
    "The content of the folder waits for review; agents do not get it.",
    "Look at its changes on the page Review of the site, then run `skilldrop approve` or "
    "`skilldrop reject` with its name.",
    _SOURCE,
)
REJECTED_IN_REVIEW = FindingType(
    "rejected-in-review",
    "warning",
    "reading",
    NEVER,
    "The content of the folder was rejected in review; agents do not get it.",
    "Change the skill as the reviewer asks; the new content then waits for review.",
    _SOURCE,
)
REFERENCE_BROKEN = FindingType(
    "skill-reference-broken",
    "warning",
    "reading",
    NEVER,
    "Agents cannot follow a link to a file of another skill: the published skills lie side by "
    "side, each under its name, and nothing else lies there.",
    "Link to a published skill as `../its-name/SKILL.md`, or copy the file into the folder.",
    _SOURCE,
)
DEPENDENCY_MISSING = FindingType(
    "dependency-missing",
    "warning",
    "reading",
    NEVER,
    "A skill that it declares to need is not published.",
    "Add that skill, or correct its name.",
    _SOURCE,
)
PUBLICATION_TYPES = (
    LAST_GOOD_VERSION_STANDS,
    VERSION_HELD,
    NAME_CONFUSABLE,
    AWAITS_REVIEW,
    REJECTED_IN_REVIEW,
    REFERENCE_BROKEN,
    DEPENDENCY_MISSING,
)
OF_HELD = (VERSION_HELD.code, AWAITS_REVIEW.code, REJECTED_IN_REVIEW.code)
"""Codes of the findings for skills that do not follow their folder."""
PUBLICATION_CODES = tuple(kind.code for kind in PUBLICATION_TYPES)
ON_OTHERS = (NAME_CONFUSABLE.code, REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)
"""Codes of the findings that change with other skills, while the folder stays as it is."""


def held_at(version: str) -> Finding:
    """Return the finding for a skill held at a version."""
    return VERSION_HELD.at(
        f"The skill is held at version {version}; the content of its folder "
        "is recorded but not published."
    )

"""What all findings of one code have in common."""

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


@dataclass(frozen=True, slots=True)
class FindingType:
    """One row of the registry."""

    code: str  # a stable slug
    severity: Severity
    profile: str  # "reading" for what is met before any rule is asked
    rejects: frozenset[Acceptance]  # the acceptances under which it alone rejects a folder
    summary: str  # one sentence: what is wrong
    fix: str  # what to do next
    source: str  # which document, which section


class Finding(NamedTuple):
    """One diagnostic: what is wrong, where, and what to do next."""

    code: str  # a stable slug
    severity: Severity
    profile: str  # the set of rules it belongs to
    message: str
    fix: str
    field: str | None = None
    path: str | None = None  # of the file it speaks of, relative to the skill folder
    line: int | None = None  # from 1
    column: int | None = None  # from 1
    before: str | None = None  # of a repair: the text as written …
    after: str | None = None  # … and as it was read

    def as_json(self) -> dict[str, Json]:
        """Return the fields that say something."""
        return {key: value for key, value in self._asdict().items() if value is not None}

"""What all findings of one code have in common."""

from dataclasses import dataclass

from catalog.model.skill import Acceptance, Severity

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

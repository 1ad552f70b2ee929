"""Findings and their types."""

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

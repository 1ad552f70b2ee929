"""Findings, their types, and those that the catalog itself adds."""

from dataclasses import dataclass
from functools import partialmethod
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
        message, fix = message or self.summary, fix or self.fix
        place = (field, path, line, column)
        return Finding(self.code, self.severity, self.profile, message, fix, *place, before, after)


class FindingTypes(list[FindingType]):
    """Types of findings of one profile, in the order in which they are declared."""

    def __init__(
        self, profile: str, source: str = OURS, *, rejects: frozenset[Acceptance] = IF_STRICT
    ) -> None:
        super().__init__()
        self._profile = profile
        self._source = source  # of the types that name none
        self._rejects = rejects  # of the errors that name none

    def _declared(
        self,
        severity: Severity,
        usual: frozenset[Acceptance] | None,
        code: str,
        summary: str,
        fix: str,
        source: str = "",
        *,
        rejects: frozenset[Acceptance] | None = None,
    ) -> FindingType:
        """Declare a type, which rejects a folder under some acceptances."""
        usual = self._rejects if usual is None else usual
        rejects = usual if rejects is None else rejects
        kind = FindingType(
            code, severity, self._profile, rejects, summary, fix, source or self._source
        )
        self.append(kind)
        return kind

    rejection = partialmethod(_declared, "error", ALWAYS)
    error = partialmethod(_declared, "error", None)  # rejects as the profile says
    danger = partialmethod(_declared, "danger", NEVER)  # it waits for review by default
    warning = partialmethod(_declared, "warning", NEVER)
    info = partialmethod(_declared, "info", NEVER)


# Findings of the catalog. Only these depend on earlier content or on other skills; all others
# depend on the folder alone.

_READING = FindingTypes("reading")

LAST_GOOD_VERSION_STANDS = _READING.warning(
    "last-good-version-stands",
    "The newest content was rejected, so the last good version stays published.",
    "Fix the errors of this skill; its new content is then published.",
)
REFERENCE_BROKEN = _READING.warning(
    "skill-reference-broken",
    "Agents cannot follow a link to a file of another skill: published skills lie side by side "
    "under their names.",
    "Link to a published skill as `../its-name/SKILL.md`, or copy the file into the folder.",
)
DEPENDENCY_MISSING = _READING.warning(
    "dependency-missing",
    "A skill that it declares to need is not published.",
    "Add that skill, or correct its name.",
)
INTERNAL_ERROR_IN_INDEX = _READING.error(
    "internal-error-in-index",
    "Internal error: skilldrop could not make the entry of the skill, so no index has it.",
    "Please report it with the traceback in the log.",
)
ROUTING = FindingTypes("advice", "skilldrop's own search, in which no model takes part")
ROUTE_MISSED = ROUTING.warning(
    "route-missed",
    "A search for the task of a routing test does not find the skill among the first five results.",
    "Name in the description what the task asks for, in its words, or correct the test.",
)
ROUTE_TAKEN = ROUTING.warning(
    "route-taken",
    "A search for a task that should not lead to the skill finds it first.",
    "Say in the description what the skill is for, in narrower words, or correct the test.",
)
ROUTING_TESTS_UNREADABLE = ROUTING.info(
    "routing-tests-unreadable",
    "A file in evals/ cannot be read as routing tests, or has too many.",
    "Write valid JSON: a list of objects with a text as query and true or false as should_trigger.",
)
PUBLICATION_TYPES = (*_READING, *ROUTING)
PUBLICATION_CODES = tuple(kind.code for kind in PUBLICATION_TYPES)
ROUTING_CODES = tuple(kind.code for kind in ROUTING)
ON_OTHERS = (
    *(REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code, INTERNAL_ERROR_IN_INDEX.code),
    *ROUTING_CODES,
)
"""Codes of the findings that change with other skills, while the folder stays as it is."""

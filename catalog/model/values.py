"""Closed sets of values that the whole program uses."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]
Level: TypeAlias = Literal["enterprise", "personal", "project", "plugin"]
Acceptance: TypeAlias = Literal["strict", "lenient", "permissive"]
FileKind: TypeAlias = Literal[
    "skill_md", "script", "reference", "asset", "template", "test", "config", "other"
]
Status: TypeAlias = Literal["active", "shadowed", "rejected", "pending", "removed"]
Trigger: TypeAlias = Literal["event", "start", "re-scan", "command"]
ChangeOutcome: TypeAlias = Literal[
    "added",
    "updated",
    "unchanged",
    "renamed",
    "rejected",
    "removed",
    "held",
    "unsettled",
    "delayed",
]
"""Results of a change. "unsettled" is not stored, and the folder must be read again.

"delayed" is not stored either: the folder changes too often and must wait some seconds.
"""

LEVELS: tuple[Level, ...] = ("enterprise", "personal", "project", "plugin")
"""Highest first: a skill of a higher level shadows one of the same skill_id below it."""

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
"""Types of a frontmatter value. YAML scalars stay strings, as written."""


REMOVAL_HELD = "removal held"
"""Start of the `pending_reason` of a skill whose removal is held."""

"""Closed sets of words that the whole program uses."""

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
"""What a look at a folder came to; "unsettled" is not taken in, and has to be looked at again.

"delayed" is not taken in either: it changes too often, and has to wait for some seconds.
"""

LEVELS: tuple[Level, ...] = ("enterprise", "personal", "project", "plugin")
"""Highest first: a skill of a higher level shadows one of the same skill_id below it."""

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
"""What a frontmatter value can be. YAML scalars stay the strings that were written."""


REMOVAL_HELD = "removal held"
"""The beginning of the reason for which a skill waits that is gone, until that is accepted."""

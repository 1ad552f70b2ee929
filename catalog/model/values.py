"""Closed sets of values that the whole program uses."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["danger", "error", "warning", "info"]
Level: TypeAlias = Literal["enterprise", "personal", "project", "plugin"]
Acceptance: TypeAlias = Literal["strict", "lenient", "permissive"]
FileKind: TypeAlias = Literal[
    "skill_md", "script", "reference", "asset", "template", "test", "config", "other"
]
SecretRule: TypeAlias = Literal["leave-out", "reject", "report"]
"""Treatment of files with keys or passwords: only these, or the whole version, or nothing is kept
from being published."""
LeftOutReason: TypeAlias = Literal["name", "ignore file", "secret"]
ReferenceKind: TypeAlias = Literal["link", "declared"]
Status: TypeAlias = Literal["active", "shadowed", "rejected", "pending", "removed"]
Trigger: TypeAlias = Literal["event", "start", "re-scan", "command"]
Review: TypeAlias = Literal["none", "dangers", "findings", "always"]
"""Which new versions of a root a person must approve before agents get them."""
ReviewState: TypeAlias = Literal["waits", "approved", "rejected"]
"""State of a version that needs a review."""
FolderOutcome: TypeAlias = Literal["added", "updated", "renamed", "rejected", "removed", "held"]
"""The outcomes of a change of a skill folder that are stored."""
ChangeOutcome: TypeAlias = FolderOutcome | Literal["unchanged", "unsettled"]
"""All outcomes of a scanned folder; an "unsettled" one is not stored and is scanned again."""
IngestionOutcome: TypeAlias = (
    FolderOutcome | Literal["pinned", "unpinned", "active", "shadowed", "withheld"]
)
"""All outcomes that are stored; the last three follow from a change of another skill or file."""

SEVERITIES: tuple[Severity, ...] = ("danger", "error", "warning", "info")
"""Worst first."""
FAILING: tuple[Severity, ...] = ("danger", "error")
"""Severities that make a check fail."""
LEVELS: tuple[Level, ...] = ("enterprise", "personal", "project", "plugin")
"""Highest first: a skill of a higher level shadows one of the same skill_id below it."""

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
"""Types of a frontmatter value. YAML scalars stay strings, as written."""
HeldCause: TypeAlias = Literal["mass_removal", "lost_root", "lost_mount", "unconfigured_root"]
"""Why a skill that is gone stays in the catalog until an operator accepts its removal."""
VERSION = "0.1.0"

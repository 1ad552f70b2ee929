"""Events that listeners receive: committed changes of skills, and memories of runs."""

from typing import NamedTuple

from catalog.model.values import IngestionOutcome, Trigger

OF_MEMORIES = "memories "
"""Beginning of the names of the listeners to memories."""


class Event(NamedTuple):
    """A committed change of a skill folder."""

    id: int
    at: str  # ISO 8601, UTC
    outcome: IngestionOutcome
    trigger: Trigger
    root: str
    path: str
    skill_id: str
    name: str
    version: str | None  # the new or pinned version
    detail: str | None
    is_conflict: bool = False  # it lost its name now, and nobody has decided on that
    is_published: bool = False  # agents get this version of it, or a newer one
    repository: str | None = None  # URL, if the root is one
    git_commit: str | None = None  # that the version came from


class MemoryEvent(NamedTuple):
    """A memory that a run of a skill suggests, with the identity of its outcome."""

    id: int
    suggestion: str  # identifier that never changes
    at: str  # ISO 8601, UTC: when the outcome was received
    owner_type: str | None
    owner_id: str | None
    type: str
    importance: int  # 1 to 5
    content: str
    metadata: str  # JSON
    position: int  # in the outcome, from 1
    path: str  # of the outcome's file
    line: int | None
    run_id: str
    revision: int
    skill_id: str | None
    version: str | None

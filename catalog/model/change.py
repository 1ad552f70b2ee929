"""Changes of skills, their results, and the events that listeners receive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from catalog.model.skill import Verdict
from catalog.model.values import ChangeOutcome, IngestionOutcome, Trigger


class Columns(NamedTuple):
    """Columns that follow from a verdict alone; a worker process has made them."""

    skill: Mapping[str, Any]  # of `skills`
    version: Mapping[str, Any]  # of `versions`, with the text of SKILL.md; of a SkillRecord
    text: tuple[Any, ...]  # of `skill_text`, without its keys


class Judged(NamedTuple):
    """Skill folder that was read and validated, with its steps; see `derived.judged`."""

    verdict: Verdict
    columns: Columns
    steps: str  # JSON list in the form of StepTraces, as it is stored
    started_at: str  # ISO 8601, UTC
    took_ms: float
    moved_from: tuple[str, str] | None = None  # the (root, path) whose content it has, if renamed

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Its root and path; if it was renamed, also those of its former folder."""
        place = self.verdict.place
        here = (place.root, place.path)
        return (here, self.moved_from) if self.moved_from else (here,)


@dataclass(frozen=True, slots=True)
class Removal:
    """Skill folder in the catalog that no longer exists."""

    root: str
    path: str

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Its root and path."""
        return ((self.root, self.path),)


Change: TypeAlias = Judged | Removal


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """Result of a change in the catalog."""

    root: str
    path: str
    name: str
    outcome: ChangeOutcome
    detail: str | None = None


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
    dangers: str | None = None  # codes of the dangers in a new version, unless it is approved
    repository: str | None = None  # URL, if the root is one
    git_commit: str | None = None  # that the version came from
    source: str = ""  # the name of who it comes from
    review: str | None = None  # of the version: waits, approved or rejected


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
    run_id: str
    revision: int
    skill_id: str | None
    version: str | None

"""Changes of a batch to the catalog, and their results."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from catalog.model.skill import Verdict
from catalog.model.values import ChangeOutcome, Json


class StepTrace(NamedTuple):
    """Step of a run with its time; stored with camelCase keys."""

    step_id: str
    step_name: str
    timestamp: str  # ISO 8601, UTC
    duration: float  # milliseconds
    input: Json = None
    output: Json = None
    error: str | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the trace in the field names of the product specification."""
        return {
            "stepId": self.step_id,
            "stepName": self.step_name,
            "input": self.input,
            "output": self.output,
            "duration": self.duration,
            "error": self.error,
            "timestamp": self.timestamp,
        }


class Judged(NamedTuple):
    """Skill folder that was read and validated, with its steps."""

    verdict: Verdict
    steps: str  # JSON list of StepTraces, as it is stored
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
    wait: float = 0.0  # seconds, if it is delayed

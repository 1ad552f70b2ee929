"""Changes that a batch brings to the catalog, and their results."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from catalog.model.skill import Verdict
from catalog.model.values import ChangeOutcome, Json


class StepTrace(NamedTuple):
    """One step of a run, with its time; stored with camelCase keys."""

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
    """A skill folder that was read and judged, and how that went."""

    verdict: Verdict
    steps: str  # StepTraces, as the JSON list that is stored
    started_at: str  # ISO 8601, UTC
    took_ms: float
    moved_from: tuple[str, str] | None = None  # the (root, path) whose content it has, if renamed


@dataclass(frozen=True, slots=True)
class Removal:
    """A skill folder of the catalog that is no longer there."""

    root: str
    path: str
    leads_out: bool = False  # a link on the path leads out of the root now


Change: TypeAlias = Judged | Removal


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """What a change came to in the catalog."""

    root: str
    path: str
    name: str
    outcome: ChangeOutcome
    detail: str | None = None
    wait: float = 0.0  # seconds, where it is delayed

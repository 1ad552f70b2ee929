"""The pydantic models of an outcome file: what a runtime says that a run of a skill came to."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from catalog.model.outcome import MemoryType, OwnerType

_IN_MILLISECONDS = 1e11
"""A number from here on counts milliseconds; in seconds it would be the year 5138."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


def _moment(at: object) -> object:
    """Return a time from ISO 8601 or a number: seconds since 1970, or milliseconds if large."""
    if isinstance(at, str):
        return datetime.fromisoformat(at)
    if isinstance(at, bool) or not isinstance(at, int | float):
        return at
    try:
        return datetime.fromtimestamp(at / 1000 if at >= _IN_MILLISECONDS else at, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError("no time that has been or will be") from error


def _in_utc(at: datetime) -> datetime:
    """Return a time in UTC; one without a zone is meant to be in UTC already."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    AfterValidator(_in_utc),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]


class _Form(BaseModel):
    """Fields are written in camelCase; those not named here are kept, for a finding to name."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
    )


class StepTraceForm(_Form):
    """One step of a run, with its time; our own ingestions are traced in this form, too."""

    model_config = ConfigDict(title="StepTrace")

    step_id: Text
    step_name: Text
    input: Any = None
    output: Any = None
    duration: float = Field(ge=0, description="milliseconds")
    error: str | None = None
    timestamp: Moment = Field(description="when the step began")


class MemoryWriteForm(_Form):
    """One thing to remember, for an owner."""

    model_config = ConfigDict(title="MemoryWrite")

    owner_type: OwnerType
    owner_id: Text
    type: MemoryType
    importance: int = Field(ge=1, le=5, description="5 is the most important")
    content: Text
    metadata: Mapping[str, Any] = {}


class AbpMemoryWriteForm(_Form):
    """One thing to remember as the ABP form has it: owners are for the runtime to say."""

    model_config = ConfigDict(title="AbpMemoryWrite")

    owner_type: OwnerType | None = None
    owner_id: Text | None = None
    type: MemoryType
    importance: float = Field(ge=0, le=1, description="1 is the most important")
    content: Text
    metadata: Mapping[str, Any] = {}


class _Outcome(_Form):
    output: Any = None
    format: str | None = None
    message: str | None = None
    token_usage: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()
    intermediate_steps: tuple[StepTraceForm, ...] = ()
    version: Text | None = Field(None, description="the version of the skill that ran")


class OutcomeForm(_Outcome):
    """What a skill returns when it has run."""

    model_config = ConfigDict(title="SkillExecutionOutcome")

    status: Text
    memory_writes: tuple[MemoryWriteForm, ...] = ()


class AbpResultForm(_Outcome):
    """The result inside an ABP envelope."""

    model_config = ConfigDict(title="AbpResult")

    status: Text | None = None
    memory_writes: tuple[AbpMemoryWriteForm, ...] = ()


class AbpEnvelopeForm(_Form):
    """The ABP form: which call of which tool, and its result."""

    model_config = ConfigDict(title="AbpEnvelope")

    id: Text
    tool: Text
    result: AbpResultForm
    version: Text | None = Field(None, description="the version of the skill that ran")


SCHEMAS: Mapping[str, type[BaseModel]] = {
    "skill-execution-outcome": OutcomeForm,
    "memory-write": MemoryWriteForm,
    "step-trace": StepTraceForm,
    "abp-envelope": AbpEnvelopeForm,
}
"""The models whose JSON Schemas are published, by the name of the file."""

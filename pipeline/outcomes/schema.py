"""Pydantic models of outcome files, in which runtimes report the results of runs."""

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
"""Numbers from here on are milliseconds; in seconds, this would be the year 5138."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


def _moment(value: object) -> object:
    """Return a time from ISO 8601 or a number: seconds since 1970, or milliseconds if large."""
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return datetime.fromtimestamp(value / 1000 if value >= _IN_MILLISECONDS else value, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError("the number is not a valid time") from error


def _in_utc(time: datetime) -> datetime:
    """Return a time in UTC; one without a zone is taken as UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    AfterValidator(_in_utc),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]


class _Form(BaseModel):
    """Model with fields in camelCase; it keeps unknown fields, for a finding about them."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
    )


class StepTraceForm(_Form):
    """One step of a run, with its time. Ingestions of skilldrop are traced in this form, too."""

    model_config = ConfigDict(title="StepTrace")

    step_id: Text
    step_name: Text
    input: Any = None
    output: Any = None
    duration: float = Field(ge=0, description="milliseconds")
    error: str | None = None
    timestamp: Moment = Field(description="when the step began")


class MemoryWriteForm(_Form):
    """One memory of a run, for an owner."""

    model_config = ConfigDict(title="MemoryWrite")

    owner_type: OwnerType
    owner_id: Text
    type: MemoryType
    importance: int = Field(ge=1, le=5, description="5 is the most important")
    content: Text
    metadata: Mapping[str, Any] = {}


class AbpMemoryWriteForm(_Form):
    """One memory in the ABP form, in which the owner is optional."""

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
    """Result of a run of a skill."""

    model_config = ConfigDict(title="SkillExecutionOutcome")

    status: Text
    memory_writes: tuple[MemoryWriteForm, ...] = ()


class AbpResultForm(_Outcome):
    """Result inside an ABP envelope."""

    model_config = ConfigDict(title="AbpResult")

    status: Text | None = None
    memory_writes: tuple[AbpMemoryWriteForm, ...] = ()


class AbpEnvelopeForm(_Form):
    """ABP form: the call of a tool, and its result."""

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
"""Models whose JSON Schemas are published, by the name of the file."""

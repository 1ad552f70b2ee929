"""Pydantic models of outcome files, in which runtimes report the results of runs.

The models keep each value as it is written; the parser normalises it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from catalog.model.outcome import MemoryType, OwnerType

_SECONDS = range(10**9, 10**11)
"""Numbers in this range are seconds, of 2001 to 5138; as milliseconds, they would be of 1970."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


def moment(value: float | str) -> datetime | None:
    """Return a time from ISO 8601 or milliseconds since 1970; None if no calendar has it.

    Times without a zone are in UTC. Raises ValueError if a text is no time.
    """
    if isinstance(value, str):
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    try:
        return datetime.fromtimestamp(value if int(value) in _SECONDS else value / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _checked_moment(value: float | str) -> float | str:
    moment(value)
    return value


def _expected(values: str) -> WrapValidator:
    """Return a validator that rejects a value with one message for all types of a union."""

    def check(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except (ValueError, OverflowError):
            message = "input should be {expected}"
            raise PydanticCustomError("form", message, {"expected": values}) from None

    return WrapValidator(check)


Moment: TypeAlias = Annotated[
    int | float | Annotated[str, Field(json_schema_extra={"format": "date-time"})],
    AfterValidator(_checked_moment),
    _expected("milliseconds since 1970 or a time in ISO 8601"),
]
TokenUsage: TypeAlias = Annotated[
    int | float | dict[str, Any], _expected("a number of tokens or an object of counts")
]
Error: TypeAlias = Annotated[str | dict[str, Any], _expected("an Error as an object, or its text")]


class _Form(BaseModel):
    """Model with fields in camelCase; it keeps unknown fields, for a finding about them."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        model_title_generator=lambda model: model.__name__.removesuffix("Form"),
        populate_by_name=True,
        allow_inf_nan=False,
    )


class StepTraceForm(_Form):
    """One step of a run, with its time. Ingestions of skilldrop are traced in this form, too.

    JSON has no `undefined` and no `NaN`: `input` and `output` may be absent, `duration` null.
    """

    step_id: str
    step_name: str
    input: Any = None
    output: Any = None
    duration: float | None = Field(description="milliseconds")
    error: Error | None = None
    timestamp: Moment | None = Field(None, description="when the step began, in ms since 1970")


class AbpMemoryWriteForm(_Form):
    """One memory in the ABP form, in which the owner is optional."""

    owner_type: OwnerType | None = None
    owner_id: Text | None = None
    type: MemoryType
    importance: Annotated[float, Field(ge=0, le=1), _expected("a number from 0 to 1")] = Field(
        description="1 is the most important"
    )
    content: Text
    metadata: Mapping[str, Any] | None = None


class MemoryWriteForm(AbpMemoryWriteForm):
    """One memory of a run, for an owner."""

    owner_type: OwnerType
    owner_id: Text
    importance: Annotated[float, Field(ge=1, le=5), _expected("a number from 1 to 5")] = Field(
        description="5 is the most important"
    )


class _Run(_Form):
    """Fields that only skilldrop defines, with which a file names its run."""

    skill_id: Text | None = Field(
        None,
        validation_alias=AliasChoices("skillId", "skill", "skillName"),
        description="the skill that ran, also as `skill` or `skillName`, or as skill@version",
    )
    version: Text | None = Field(
        None,
        validation_alias=AliasChoices("version", "skillVersion"),
        description="the version of the skill that ran, also as `skillVersion`",
    )
    run_id: Text | None = Field(None, description="the run; by default the name of the file")


class SkillResultForm(_Run):
    """Result of a skill; of its fields only `output` is required, and it may be null."""

    output: Any
    memory_writes: tuple[MemoryWriteForm | None, ...] | None = None
    intermediate_steps: tuple[StepTraceForm | None, ...] | None = None


class SkillExecutionOutcomeForm(SkillResultForm):
    """Result of a run of a skill; of its fields only `output` is required, and it may be null."""

    format: str | None = None
    status: str | None = None
    message: str | None = None
    token_usage: TokenUsage | None = None
    warnings: tuple[Error | None, ...] | None = None


class AbpResultForm(SkillExecutionOutcomeForm):
    """Result inside an ABP envelope, whose memories need no owner."""

    memory_writes: tuple[AbpMemoryWriteForm | None, ...] | None = None  # type: ignore[assignment]


class AbpEnvelopeForm(_Run):
    """ABP form: the call of a tool, and its result."""

    id: Text
    tool: Text
    result: AbpResultForm

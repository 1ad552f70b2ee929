"""Parser of outcome files: bytes to a run outcome, or to findings about them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.model.change import StepTrace
from catalog.model.finding import Finding
from catalog.model.outcome import BadOutcome, Form, JudgedOutcome, MemoryWrite, RunFile, RunOutcome
from catalog.text.quoting import quoted
from catalog.text.times import iso
from pipeline.outcomes.codes import (
    OUTCOME_FIELD_MISSING,
    OUTCOME_FIELD_UNKNOWN,
    OUTCOME_FIELD_WRONG,
    OUTCOME_KEY_TWICE,
    OUTCOME_NOT_JSON,
)
from pipeline.outcomes.schema import (
    AbpEnvelopeForm,
    AbpMemoryWriteForm,
    AbpResultForm,
    MemoryWriteForm,
    OutcomeForm,
    StepTraceForm,
)

_FAILED = frozenset({"failed", "failure", "error", "timeout", "aborted", "cancelled", "canceled"})
_NAMED = 10  # unknown fields in one message


def judge_outcome(file: RunFile, data: bytes) -> JudgedOutcome:
    """Return the run outcome in a file, or all findings that prevent it."""
    try:
        value = _parsed(data)
    except _NotJson as error:
        return BadOutcome(file, (error.finding,))
    model = AbpEnvelopeForm if _is_envelope(value) else OutcomeForm
    try:
        parsed = model.model_validate_json(data, strict=True)
    except ValidationError as error:
        return BadOutcome(file, tuple(_problems(error)))
    unknown = tuple(_unknown(parsed))
    if isinstance(parsed, AbpEnvelopeForm):
        return _outcome(
            file,
            "abp",
            parsed.result,
            unknown,
            version=parsed.version or parsed.result.version,
            tool=parsed.tool,
            call_id=parsed.id,
        )
    return _outcome(file, "outcome", parsed, unknown, version=parsed.version)


# JSON, without the parts that parsers read differently


class _NotJson(Exception):
    """File that is not one JSON object, with the finding about it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_reject_constant
        )
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeDecodeError as error:
        raise _NotJson(OUTCOME_NOT_JSON.at(f"Byte {error.start} is not UTF-8.")) from None
    except UnicodeEncodeError:
        raise _NotJson(OUTCOME_NOT_JSON.at("A \\u escape is half of a surrogate pair.")) from None
    except json.JSONDecodeError as error:
        raise _NotJson(
            OUTCOME_NOT_JSON.at(
                f"It is not JSON: {error.msg}.",
                line=error.lineno,
                column=error.colno,
            )
        ) from None
    except RecursionError:
        raise _NotJson(OUTCOME_NOT_JSON.at("It is nested too deeply.")) from None
    except ValueError:
        raise _NotJson(
            OUTCOME_NOT_JSON.at("A number in it is too large, or not a number.")
        ) from None
    if not isinstance(value, dict):
        raise _NotJson(OUTCOME_NOT_JSON.at())
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise _NotJson(OUTCOME_KEY_TWICE.at(f"The key {quoted(duplicate)} appears twice."))
    return result


def _reject_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _is_envelope(value: dict[str, Any]) -> bool:
    return "result" in value and bool(value.keys() & {"id", "tool"})


# Findings of the models


def _problems(error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False):
        field = ".".join(map(str, problem["loc"]))
        if problem["type"] == "missing":
            yield OUTCOME_FIELD_MISSING.at(f"{field} is missing.", field=field)
        else:
            message = problem["msg"][0].lower() + problem["msg"][1:]
            yield OUTCOME_FIELD_WRONG.at(
                f"{field} is {_shown(problem['input'])}: {message}.",
                field=field,
            )


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unknown(model: BaseModel) -> Iterator[Finding]:
    names = list(_extras(model, ""))
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield OUTCOME_FIELD_UNKNOWN.at(
            f"Unknown field {', '.join(name[:80] for name in names[:_NAMED])}{more}.",
            field=names[0],
        )


def _extras(model: BaseModel, prefix: str) -> Iterator[str]:
    yield from (f"{prefix}{name}" for name in model.model_extra or ())
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        path = f"{prefix}{info.alias or name}"
        if isinstance(value, BaseModel):
            yield from _extras(value, f"{path}.")
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from _extras(item, f"{path}.{index}.")


# Values of the catalog


def _outcome(
    file: RunFile,
    form: Form,
    result: OutcomeForm | AbpResultForm,
    findings: tuple[Finding, ...],
    *,
    version: str | None,
    tool: str | None = None,
    call_id: str | None = None,
) -> RunOutcome:
    steps = tuple(map(_step, result.intermediate_steps))
    return RunOutcome(
        file=file,
        form=form,
        output=result.output,
        format=result.format,
        status=result.status,
        failed=_has_failed(result.status, steps),
        message=result.message,
        token_usage=result.token_usage,
        warnings=result.warnings,
        memory_writes=tuple(map(_memory, result.memory_writes)),
        steps=steps,
        version=version,
        tool=tool,
        call_id=call_id,
        findings=findings,
    )


def _has_failed(status: str | None, steps: Sequence[StepTrace]) -> bool:
    """Whether a run failed, by its status or, without one, by its last step."""
    if status is None:
        return bool(steps and steps[-1].error)
    return status.strip().lower() in _FAILED


def _step(step: StepTraceForm) -> StepTrace:
    return StepTrace(
        step_id=step.step_id,
        step_name=step.step_name,
        duration=step.duration,
        timestamp=iso(step.timestamp),
        input=step.input,
        output=step.output,
        error=step.error,
    )


def _memory(write: MemoryWriteForm | AbpMemoryWriteForm) -> MemoryWrite:
    """Return a memory write, with its importance converted to the scale from 1 to 5."""
    written = write.importance
    whole = written if isinstance(write, MemoryWriteForm) else 1 + round(4 * written)
    return MemoryWrite(
        type=write.type,
        content=write.content,
        importance=int(whole),
        importance_declared=float(written),
        owner_type=write.owner_type,
        owner_id=write.owner_id,
        metadata=write.metadata,
    )

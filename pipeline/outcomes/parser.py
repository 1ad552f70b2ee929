"""Parser of outcomes: the bytes of a file to a run outcome, or to findings about them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.model.finding import Finding
from catalog.model.outcome import (
    BadOutcome,
    JudgedOutcome,
    MemoryWrite,
    RunFile,
    RunOutcome,
    RunStep,
)
from catalog.text.humanize import iso
from catalog.text.visible import quoted
from pipeline.outcomes.codes import (
    OUTCOME_FIELD_MISSING,
    OUTCOME_FIELD_UNKNOWN,
    OUTCOME_FIELD_WRONG,
    OUTCOME_HALF_CHARACTER,
    OUTCOME_KEY_TWICE,
    OUTCOME_NOT_JSON,
)
from pipeline.outcomes.schema import (
    AbpEnvelopeForm,
    AbpMemoryWriteForm,
    MemoryWriteForm,
    SkillExecutionOutcomeForm,
    StepTraceForm,
    moment,
)

_FAILED = frozenset({"failed", "failure", "error", "timeout", "aborted", "cancelled", "canceled"})
_TOTALS = ("total", "totalTokens", "total_tokens")
_INPUT = ("input", "inputTokens", "input_tokens", "prompt", "promptTokens", "prompt_tokens")
_OUTPUT = "output outputTokens output_tokens completion completionTokens completion_tokens".split()


def normalised(
    file: RunFile, form: AbpEnvelopeForm | SkillExecutionOutcomeForm, findings: tuple[Finding, ...]
) -> RunOutcome:
    """Return the run outcome of a valid form."""
    envelope = form if isinstance(form, AbpEnvelopeForm) else None
    result = form.result if isinstance(form, AbpEnvelopeForm) else form
    steps = tuple(_step(step) for step in result.intermediate_steps or () if step)
    return RunOutcome(
        file=file,
        form="abp" if envelope else "outcome",
        output=result.output,
        format=result.format,
        status=result.status,
        failed=_has_failed(result.status, steps),
        message=result.message,
        token_usage=result.token_usage,
        tokens=_tokens(result.token_usage),
        warnings=tuple(_error(each) for each in result.warnings or () if each is not None),
        memory_writes=tuple(_memory(write) for write in result.memory_writes or () if write),
        steps=steps,
        skill=form.skill_id or result.skill_id,
        version=form.version or result.version,
        declared_run=form.run_id or result.run_id,
        tool=envelope.tool if envelope else None,
        call_id=envelope.id if envelope else None,
        findings=findings,
    )


def _has_failed(status: str | None, steps: Sequence[RunStep]) -> bool:
    """Whether a run failed, by its status or, without one, by its last step."""
    if not status or status.isspace():
        return bool(steps and steps[-1].error)
    return status.strip().lower() in _FAILED


def _tokens(usage: Any) -> float | None:
    """Return all tokens of a run; None if an object of counts has none that is known."""
    if not isinstance(usage, Mapping):
        return _number(usage)
    if (total := _first(usage, _TOTALS)) is not None:
        return total
    parts = [count for names in (_INPUT, _OUTPUT) if (count := _first(usage, names)) is not None]
    return sum(parts) if parts else None


def _first(usage: Mapping[str, Any], names: Sequence[str]) -> float | None:
    counts = (_number(usage.get(name)) for name in names)
    return next((count for count in counts if count is not None), None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _step(step: StepTraceForm) -> RunStep:
    began = None if step.timestamp is None else moment(step.timestamp)
    return RunStep(
        step_id=step.step_id,
        step_name=step.step_name,
        input=step.input,
        output=step.output,
        duration=step.duration,
        error=None if step.error is None else _error(step.error),
        error_declared=step.error,
        timestamp=iso(began) if began else None,
        timestamp_declared=step.timestamp,
    )


def _error(error: str | Mapping[str, Any]) -> str:
    """Return the text of an error, which JavaScript prints as an object, often an empty one."""
    if isinstance(error, str):
        return error
    name, message = (
        value if isinstance(value := error.get(key), str) else "" for key in ("name", "message")
    )
    text = ": ".join(part for part in (name, message) if part)
    return text or (json.dumps(error, ensure_ascii=False) if error else "an error without a text")


def _memory(write: MemoryWriteForm | AbpMemoryWriteForm) -> MemoryWrite:
    """Return a memory write, with its importance as a whole number from 1 to 5."""
    written = write.importance
    whole = round(written if isinstance(write, MemoryWriteForm) else 1 + 4 * written)
    return MemoryWrite(
        type=write.type,
        content=write.content,
        importance=whole,
        importance_declared=written,
        owner_type=write.owner_type,
        owner_id=write.owner_id,
        metadata=write.metadata or {},
    )


_NAMED = 10  # unknown fields in one message


def judge_outcome(file: RunFile, data: bytes) -> JudgedOutcome:
    """Return the run outcome in a file, or all findings that prevent it."""
    try:
        value, written = _parsed(data)
    except _NotJson as error:
        return BadOutcome(file, (error.finding,))
    text = _whole(written)
    repairs = () if text == written else (OUTCOME_HALF_CHARACTER.at(),)
    model = AbpEnvelopeForm if _is_envelope(value) else SkillExecutionOutcomeForm
    try:
        parsed = model.model_validate_json(text, strict=True)
    except ValidationError as error:
        return BadOutcome(file, tuple(_problems(error)))
    return normalised(file, parsed, (*repairs, *_unknown(model, text)))


# JSON, without the parts that parsers read differently


class _NotJson(Exception):
    """File that is not one JSON object, with the finding about it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def _parsed(data: bytes) -> tuple[dict[str, Any], str]:
    """Return the object in some bytes, and the same as text that every parser reads alike."""
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except UnicodeDecodeError as error:
        raise _NotJson(OUTCOME_NOT_JSON.at(f"Byte {error.start} is not UTF-8.")) from None
    except json.JSONDecodeError as error:
        raise _NotJson(_no_json(error)) from None
    except RecursionError:
        raise _NotJson(OUTCOME_NOT_JSON.at("It is nested too deeply.")) from None
    except ValueError:
        raise _NotJson(
            OUTCOME_NOT_JSON.at("A number in it is too large, or not a number.")
        ) from None
    if not isinstance(value, dict):
        raise _NotJson(OUTCOME_NOT_JSON.at())
    return value, text


def _no_json(error: json.JSONDecodeError) -> Finding:
    if error.msg == "Extra data":
        return OUTCOME_NOT_JSON.at(
            "It has more than one JSON value.",
            fix="Write each outcome to a file of its own.",
            line=error.lineno,
            column=error.colno,
        )
    return OUTCOME_NOT_JSON.at(
        f"It is not JSON: {error.msg}.", line=error.lineno, column=error.colno
    )


def _whole(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, where JavaScript has cut it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise _NotJson(OUTCOME_KEY_TWICE.at(f"The key {quoted(duplicate)} appears twice."))
    return result


def _is_envelope(value: dict[str, Any]) -> bool:
    return "result" in value and "output" not in value and bool(value.keys() & {"id", "tool"})


# Findings of the models


def _problems(error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False):
        if problem["type"] == "json_invalid":  # it is JSON, but pydantic's parser gives up
            yield OUTCOME_NOT_JSON.at("It is nested too deeply.")
            continue
        field = _field(problem["loc"])
        if problem["type"] == "missing":
            advice = _UNDEFINED if field.endswith("output") else None
            yield OUTCOME_FIELD_MISSING.at(f"{field} is missing.", fix=advice, field=field)
        else:
            message = problem["msg"][0].lower() + problem["msg"][1:]
            yield OUTCOME_FIELD_WRONG.at(
                f"{field} is {_shown(problem['input'])}: {message}.",
                field=field,
            )


_UNDEFINED = (
    "Add it; for a run without output, write null, as JSON.stringify drops keys whose value is "
    "undefined."
)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unknown(model: type[BaseModel], text: str) -> Iterator[Finding]:
    """Yield the finding about the unknown fields of a valid outcome."""
    try:
        model.model_validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        names = [_field(problem["loc"]) for problem in error.errors(include_input=False)]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield OUTCOME_FIELD_UNKNOWN.at(
            f"Unknown field {', '.join(name[:80] for name in names[:_NAMED])}{more}.",
            field=names[0],
        )


def _field(location: Sequence[int | str]) -> str:
    """Return the path of a field in the file, by its location in the models."""
    return ".".join(map(str, location))

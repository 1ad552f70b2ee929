"""The bytes of an outcome file → a run's outcome, or findings that say why it is none."""

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
    """Return what an outcome file says; every problem in it is told at once."""
    try:
        written = _parsed(data)
    except _NotJson as error:
        return BadOutcome(file, (error.finding,))
    model = AbpEnvelopeForm if _is_envelope(written) else OutcomeForm
    try:
        said = model.model_validate_json(data, strict=True)
    except ValidationError as error:
        return BadOutcome(file, tuple(_problems(error)))
    unknown = tuple(_unknown(said))
    if isinstance(said, AbpEnvelopeForm):
        return _outcome(
            file,
            "abp",
            said.result,
            unknown,
            version=said.version or said.result.version,
            tool=said.tool,
            call_id=said.id,
        )
    return _outcome(file, "outcome", said, unknown, version=said.version)


# What JSON is, and what of it is no longer the same for everyone who reads it


class _NotJson(Exception):
    """Carries the one finding of a file that is no JSON object."""

    def __init__(self, found: Finding) -> None:
        super().__init__(found.message)
        self.finding = found


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeDecodeError as error:
        raise _NotJson(OUTCOME_NOT_JSON.at(f"Byte {error.start} is not UTF-8.")) from None
    except UnicodeEncodeError:
        raise _NotJson(OUTCOME_NOT_JSON.at("A \\u escape names half of a character.")) from None
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
            OUTCOME_NOT_JSON.at("A number in it is too large, or none at all.")
        ) from None
    if not isinstance(value, dict):
        raise _NotJson(OUTCOME_NOT_JSON.at())
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _NotJson(OUTCOME_KEY_TWICE.at(f"The key {quoted(twice)} is there twice."))
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _is_envelope(written: dict[str, Any]) -> bool:
    return "result" in written and bool(written.keys() & {"id", "tool"})


# What the models say


def _problems(error: ValidationError) -> Iterator[Finding]:
    for problem in error.errors(include_url=False, include_context=False):
        field = ".".join(map(str, problem["loc"]))
        if problem["type"] == "missing":
            yield OUTCOME_FIELD_MISSING.at(f"{field} is missing.", field=field)
        else:
            said = problem["msg"][0].lower() + problem["msg"][1:]
            yield OUTCOME_FIELD_WRONG.at(
                f"{field} is {_shown(problem['input'])}: {said}.",
                field=field,
            )


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unknown(said: BaseModel) -> Iterator[Finding]:
    names = list(_extras(said, ""))
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield OUTCOME_FIELD_UNKNOWN.at(
            f"No form has the field {', '.join(name[:80] for name in names[:_NAMED])}{more}.",
            field=names[0],
        )


def _extras(said: BaseModel, place: str) -> Iterator[str]:
    yield from (f"{place}{name}" for name in said.model_extra or ())
    for name, info in type(said).model_fields.items():
        value = getattr(said, name)
        written = f"{place}{info.alias or name}"
        if isinstance(value, BaseModel):
            yield from _extras(value, f"{written}.")
        elif isinstance(value, tuple):
            for at, each in enumerate(value):
                if isinstance(each, BaseModel):
                    yield from _extras(each, f"{written}.{at}.")


# In the catalog's words


def _outcome(
    file: RunFile,
    form: Form,
    said: OutcomeForm | AbpResultForm,
    findings: tuple[Finding, ...],
    *,
    version: str | None,
    tool: str | None = None,
    call_id: str | None = None,
) -> RunOutcome:
    steps = tuple(map(_step, said.intermediate_steps))
    return RunOutcome(
        file=file,
        form=form,
        output=said.output,
        format=said.format,
        status=said.status,
        failed=_has_failed(said.status, steps),
        message=said.message,
        token_usage=said.token_usage,
        warnings=said.warnings,
        memory_writes=tuple(map(_memory, said.memory_writes)),
        steps=steps,
        version=version,
        tool=tool,
        call_id=call_id,
        findings=findings,
    )


def _has_failed(status: str | None, steps: Sequence[StepTrace]) -> bool:
    """Tell whether a run failed: its status says so, or without one its last step."""
    if status is None:
        return bool(steps and steps[-1].error)
    return status.strip().lower() in _FAILED


def _step(said: StepTraceForm) -> StepTrace:
    return StepTrace(
        step_id=said.step_id,
        step_name=said.step_name,
        duration=said.duration,
        timestamp=iso(said.timestamp),
        input=said.input,
        output=said.output,
        error=said.error,
    )


def _memory(said: MemoryWriteForm | AbpMemoryWriteForm) -> MemoryWrite:
    """Return a memory write with its importance from 1 to 5, whichever scale it was written in."""
    written = said.importance
    whole = written if isinstance(said, MemoryWriteForm) else 1 + round(4 * written)
    return MemoryWrite(
        type=said.type,
        content=said.content,
        importance=int(whole),
        importance_written=float(written),
        owner_type=said.owner_type,
        owner_id=said.owner_id,
        metadata=said.metadata,
    )

"""Outcomes in the one form of the catalog, from the forms in which runtimes write them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from catalog.model.finding import Finding
from catalog.model.outcome import MemoryWrite, RunFile, RunOutcome, RunStep
from catalog.text.humanize import iso
from pipeline.outcomes.schema import (
    AbpEnvelopeForm,
    AbpMemoryWriteForm,
    MemoryWriteForm,
    OutcomeForm,
    StepTraceForm,
    moment,
)

_FAILED = frozenset({"failed", "failure", "error", "timeout", "aborted", "cancelled", "canceled"})
_TOTALS = ("total", "totalTokens", "total_tokens")
_INPUT = ("input", "inputTokens", "input_tokens", "prompt", "promptTokens", "prompt_tokens")
_OUTPUT = (
    "output",
    "outputTokens",
    "output_tokens",
    "completion",
    "completionTokens",
    "completion_tokens",
)


def normalised(
    file: RunFile, form: AbpEnvelopeForm | OutcomeForm, findings: tuple[Finding, ...]
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
        metadata=write.metadata or {},
    )

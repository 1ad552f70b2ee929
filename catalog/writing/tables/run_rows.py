"""Values of the rows of one run outcome."""

import hashlib
from collections.abc import Iterable, Iterator

from catalog.database import sql as database_sql
from catalog.model.outcome import MemoryWrite, RunOutcome, RunStep
from catalog.model.values import Json
from catalog.writing.tables.run_origin import Origin


def outcome_row(outcome: RunOutcome, origin: Origin) -> database_sql.Row:
    """Return a row of `outcomes`, without its revision."""
    file = outcome.file
    return {
        "path": file.path,
        "line": file.line,
        "run_id": outcome.run_id,
        "is_newest": 1,
        "skill_id": origin.skill_id,
        "skill": origin.skill,
        "version": origin.version,
        "skill_declared": outcome.skill,
        "version_declared": origin.version_declared,
        "form": outcome.form,
        "tool": outcome.tool,
        "call_id": outcome.call_id,
        "status": outcome.status,
        "failed": int(outcome.failed),
        "message": outcome.message,
        "format": outcome.format,
        "output": database_sql.to_json(outcome.output),
        "token_usage": _optional_json(outcome.token_usage),
        "tokens": outcome.tokens,
        "warnings": database_sql.to_json(outcome.warnings),
        "findings": database_sql.to_json([finding.as_json() for finding in outcome.findings]),
        "sha256": file.sha256,
    }


def suggestions(outcome: RunOutcome) -> Iterator[tuple[MemoryWrite, str]]:
    """Yield the memory writes with identifiers, which other revisions of the run have, too.

    An outcome that has the same memory twice suggests it once.
    """
    for write in outcome.memory_writes:
        content = [
            outcome.file.path,
            outcome.run_id,
            write.owner_type,
            write.owner_id,
            write.type,
            write.importance,
            write.content,
            write.metadata,
        ]
        yield write, hashlib.sha256(database_sql.to_json(content).encode()).hexdigest()[:32]


def step_values(step: RunStep) -> Iterable[object]:
    """Return the values of STEP_COLUMNS but the first two."""
    return (
        step.step_id,
        step.step_name,
        database_sql.to_json(step.input),
        database_sql.to_json(step.output),
        step.duration,
        step.error,
        _optional_json(step.error_declared),
        step.timestamp,
        _optional_json(step.timestamp_declared),
    )


def _optional_json(value: Json) -> str | None:
    return None if value is None else database_sql.to_json(value)


MEMORY_COLUMNS = (
    "outcome",
    "position",
    "owner_type",
    "owner_id",
    "type",
    "importance",
    "importance_declared",
    "content",
    "metadata",
    "suggestion",
)
STEP_COLUMNS = (
    "outcome",
    "position",
    "step_id",
    "step_name",
    "input",
    "output",
    "duration",
    "error",
    "error_declared",
    "timestamp",
    "timestamp_declared",
)

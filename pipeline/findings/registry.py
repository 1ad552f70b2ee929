"""Every finding there is, by its code, and the one way to make one."""

from catalog.record import Finding
from pipeline.findings import (
    advice,
    apexbridge,
    archives,
    claude_code,
    judging,
    outcome,
    parsing,
    reading,
    safety,
    spec,
    standing,
)
from pipeline.findings.finding_type import FindingType

REGISTRY: dict[str, FindingType] = {
    kind.code: kind
    for module in (
        reading,
        archives,
        parsing,
        judging,
        standing,
        spec,
        advice,
        safety,
        claude_code,
        apexbridge,
        outcome,
    )
    for kind in module.TYPES
}


def finding(
    code: str,
    message: str | None = None,
    *,
    fix: str | None = None,
    field: str | None = None,
    path: str | None = None,
    line: int | None = None,
    column: int | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Finding:
    """Return a finding of a registered code; message and fix default to the registry's."""
    kind = REGISTRY[code]
    return Finding(
        code=code,
        severity=kind.severity,
        profile=kind.profile,
        message=message or kind.summary,
        fix=fix or kind.fix,
        field=field,
        path=path,
        line=line,
        column=column,
        before=before,
        after=after,
    )

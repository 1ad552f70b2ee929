"""Findings that the catalog adds, from what was accepted before and from other skills."""

from catalog import standing
from pipeline.findings.finding_type import NEVER, OURS, FindingType

TYPES = tuple(
    FindingType(
        kind.code,
        kind.severity,
        kind.profile,
        NEVER,
        kind.summary,
        kind.fix,
        f"{OURS}, publication",
    )
    for kind in (standing.LAST_GOOD, standing.HELD, standing.CONFUSABLE)
)

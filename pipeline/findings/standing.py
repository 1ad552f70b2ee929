"""Findings that the catalog adds, where what is published is not a skill's newest content."""

from catalog import standing
from pipeline.findings.finding_type import NEVER, OURS, FindingType

TYPES = tuple(
    FindingType(kind.code, kind.severity, "reading", NEVER, kind.summary, kind.fix,
                f"{OURS}, publication")
    for kind in (standing.LAST_GOOD, standing.HELD)
)

"""Findings that the catalog adds, from what was accepted before and from other skills."""

from catalog.model.finding import NEVER, OURS, FindingType
from catalog.writing.rows import publication_findings

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
    for kind in (
        publication_findings.LAST_GOOD,
        publication_findings.HELD,
        publication_findings.CONFUSABLE,
    )
)

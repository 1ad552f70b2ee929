"""Registry of all finding types, in the order of their documentation."""

from collections.abc import Mapping

from catalog.model import publication_findings
from catalog.model.finding import FindingType
from pipeline.dialects.registry import PROFILES
from pipeline.outcomes import codes as outcomes_codes
from pipeline.validation.registry import READING

REGISTRY: Mapping[str, FindingType] = {
    kind.code: kind
    for kind in (
        *READING,
        *publication_findings.TYPES,
        *(kind for profile in PROFILES.values() for kind in profile.types),
        *outcomes_codes.TYPES,
    )
}
"""Finding types by code."""

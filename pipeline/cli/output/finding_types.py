"""Registry of all finding types, in the order of their documentation."""

from collections.abc import Mapping

from catalog.model.finding import PUBLICATION_TYPES, FindingType
from pipeline.dialects.registry import FINDING_TYPES
from pipeline.outcomes import codes

REGISTRY: Mapping[str, FindingType] = {
    kind.code: kind for kind in (*FINDING_TYPES, *PUBLICATION_TYPES, *codes.TYPES)
}
"""Finding types by code."""

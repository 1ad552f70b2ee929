"""Registry of all finding types, in the order of their documentation."""

from collections.abc import Mapping
from itertools import chain

from catalog.model import finding
from catalog.model.finding import FindingType
from pipeline.dialects.registry import OF_PROFILES
from pipeline.outcomes import codes as outcomes_codes
from pipeline.validation.codes import READING

REGISTRY: Mapping[str, FindingType] = {
    kind.code: kind
    for kind in (
        *READING,
        *finding.PUBLICATION_TYPES,
        *chain.from_iterable(OF_PROFILES.values()),
        *outcomes_codes.TYPES,
    )
}
"""Finding types by code."""

"""Finding types that need no profile."""

from catalog.model.finding import FindingType
from pipeline.parsing import codes as parsing_codes
from pipeline.roots import codes as roots_codes
from pipeline.roots.archives import codes as archives_codes
from pipeline.validation import codes as validation_codes

READING: tuple[FindingType, ...] = (
    *roots_codes.TYPES,
    *archives_codes.TYPES,
    *parsing_codes.TYPES,
    *validation_codes.TYPES,
)
"""The finding types that are reported with any choice of profiles."""

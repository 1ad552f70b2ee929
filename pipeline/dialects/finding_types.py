"""Types of all findings that a verdict may contain, without the rules that report them."""

from collections.abc import Mapping
from itertools import chain

from catalog.model.finding import FindingType
from pipeline.dialects.apexbridge import codes as apexbridge
from pipeline.validation.profiles.advice import codes as advice
from pipeline.validation.profiles.claude_code import codes as claude_code
from pipeline.validation.profiles.safety import codes as safety
from pipeline.validation.profiles.spec import codes as spec
from pipeline.validation.reading_types import READING

OF_PROFILES: Mapping[str, tuple[FindingType, ...]] = {
    "spec": spec.TYPES,
    "advice": advice.TYPES,
    "safety": safety.TYPES,
    "claude-code": claude_code.TYPES,
    "apexbridge": apexbridge.TYPES,
}
"""Finding types by profile, in the order of the registry."""

FINDING_TYPES: tuple[FindingType, ...] = (*READING, *chain.from_iterable(OF_PROFILES.values()))
"""All types."""

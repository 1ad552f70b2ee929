"""Registry of the profiles for every skill, and of the finding types that need no profile."""

from catalog.model.finding import FindingType
from pipeline.parsing import codes as parsing_codes
from pipeline.roots import codes as roots_codes
from pipeline.roots.archives import codes as archives_codes
from pipeline.validation import codes as validation_codes
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.advice.profile import ADVICE
from pipeline.validation.profiles.claude_code.profile import CLAUDE_CODE
from pipeline.validation.profiles.safety.profile import SAFETY
from pipeline.validation.profiles.spec.profile import SPEC

FOR_ALL: tuple[Profile, ...] = (SPEC, ADVICE, SAFETY, CLAUDE_CODE)
"""The profiles for every skill; a dialect's profile is only for packages of its system."""

READING: tuple[FindingType, ...] = (
    *roots_codes.TYPES,
    *archives_codes.TYPES,
    *parsing_codes.TYPES,
    *validation_codes.TYPES,
)
"""The finding types that are reported with any choice of profiles."""

"""Registry of the profiles for every skill."""

from pipeline.validation.profile import Profile
from pipeline.validation.profiles.advice.profile import ADVICE
from pipeline.validation.profiles.claude_code.profile import CLAUDE_CODE
from pipeline.validation.profiles.safety.profile import SAFETY
from pipeline.validation.profiles.spec.profile import SPEC

FOR_ALL: tuple[Profile, ...] = (SPEC, ADVICE, SAFETY, CLAUDE_CODE)
"""The profiles for every skill; a dialect's profile is only for packages of its system."""

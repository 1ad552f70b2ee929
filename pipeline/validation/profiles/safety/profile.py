"""Profile `safety`."""

from pipeline.validation.profile import Profile
from pipeline.validation.profiles.safety.codes import TYPES
from pipeline.validation.profiles.safety.rules import RULES

SAFETY = Profile("safety", TYPES, RULES)

"""Profile `advice`."""

from pipeline.validation.profile import Profile
from pipeline.validation.profiles.advice.codes import TYPES
from pipeline.validation.profiles.advice.rules import RULES

ADVICE = Profile("advice", TYPES, RULES)

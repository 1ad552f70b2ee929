"""Profile `spec`."""

from pipeline.validation.profile import Profile
from pipeline.validation.profiles.spec.codes import TYPES
from pipeline.validation.profiles.spec.rules import RULES

SPEC = Profile("spec", TYPES, RULES)

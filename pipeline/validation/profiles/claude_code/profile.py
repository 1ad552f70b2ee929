"""Profile `claude-code`."""

from pipeline.validation.profile import Profile
from pipeline.validation.profiles.claude_code.codes import TYPES
from pipeline.validation.profiles.claude_code.rules import RULES

CLAUDE_CODE = Profile("claude-code", TYPES, RULES)

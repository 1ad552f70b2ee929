"""Names of the profiles for every skill; the profiles themselves are slow to import."""

PROFILES = ("spec", "advice", "safety", "claude-code")
"""The profiles that roots and `validate` ask for, unless others are named."""

"""The Agent Skills specification to the letter."""

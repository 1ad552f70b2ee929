"""Profile of the Agent Skills specification, to the letter."""

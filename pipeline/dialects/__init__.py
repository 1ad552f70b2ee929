"""Skill formats beyond the common one, a folder each."""

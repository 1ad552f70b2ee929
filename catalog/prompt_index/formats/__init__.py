"""Formats of a prompt index; in each, no text of a skill can end its own entry."""

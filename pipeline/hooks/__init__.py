"""Hooks: programs and servers that are told of changes."""

"""Skill folders on a local file system."""

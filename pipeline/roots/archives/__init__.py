"""Skill folders inside archives."""

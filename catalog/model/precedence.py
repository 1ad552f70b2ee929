"""Precedence among skills of one skill_id."""

from typing import NamedTuple

from catalog.model.values import LEVELS, Level


class Precedence(NamedTuple):
    """Sort key of skills that share a skill_id; the smallest wins."""

    level_rank: int
    root_position: int
    is_alias: bool  # reached through a link; its target comes first
    depth: int
    path: str  # compared by code point


def precedence(level: Level, root_position: int, path: str, *, is_alias: bool) -> Precedence:
    """Return the precedence of a skill folder: level, order of roots, no link, depth, path."""
    return Precedence(LEVELS.index(level), root_position, is_alias, path.count("/"), path)

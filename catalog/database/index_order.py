"""Order of skills in a prompt index: level, declared priority, name, row.

SQLite compares names by code point. The DDL spells the order out again, in the index
`skills_in_index_order` and the key of `index_tags`, which make the queries fast.
"""

from collections.abc import Mapping
from typing import Any

WITHIN_LEVEL = "ifnull(s.priority, 0) DESC, s.name, s.id"
"""Order of skills `s` of one level, as SQL."""
SQL = f"s.level_rank, {WITHIN_LEVEL}"
"""Order of all skills `s`, as SQL."""


def key_within_level(skill: Mapping[str, Any]) -> tuple[float, str, int]:
    """Return the sort key of a skill among those of its level; its priority is a number."""
    return -skill["priority"], skill["name"], skill["id"]

"""Order of skills in a prompt index: level, declared priority, name, row.

SQLite compares names by code point. The DDL spells the order out again, in the index
`skills_in_index_order` and the key of `index_tags`, which make the queries fast.
"""

WITHIN_LEVEL = "ifnull(s.priority, 0) DESC, s.name, s.id"
"""Order of skills `s` of one level, as SQL."""
SQL = f"s.level_rank, {WITHIN_LEVEL}"
"""Order of all skills `s`, as SQL."""


def key_within_level(priority: float, name: str, skill: int) -> tuple[float, str, int]:
    """Return the sort key of a skill, given the id of its row, among those of its level."""
    return -priority, name, skill

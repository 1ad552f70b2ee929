"""Order of skills in a prompt index: level, declared priority, name, row.

SQLite compares names by code point. The schema spells the order out again, in the index
`skills_in_index_order`, which makes the queries fast.
"""

WITHIN_LEVEL = "ifnull(s.priority, 0) DESC, s.name, s.id"
"""Order of skills `s` of one level, as SQL."""
SQL = f"s.level_rank, {WITHIN_LEVEL}"
"""Order of all skills `s`, as SQL."""

"""Names of the folders that skills have among the published ones, beside the catalog."""

NAME = """
    (SELECT name FROM (SELECT l.name, max(l.id) FROM linked_directories AS d
         CROSS JOIN links AS l INDEXED BY links_by_skill
         ON l.directory = d.id AND l.skill_id = s.skill_id
         WHERE d.origin = 'data' AND l.is_linked = 1 AND s.status = 'active'))
"""
"""SQL expression: the name of the folder of a skill `s`; NULL where it has none."""
SKILLS = "(SELECT path FROM linked_directories WHERE origin = 'data')"
"""SQL expression: the folder of published skills; NULL where nothing is published."""

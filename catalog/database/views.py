"""Views, full-text tables and the triggers that keep them: plain SQL for any client."""

from collections.abc import Iterable
from dataclasses import fields

from sqlite_utils import Database

from catalog.model.declarations import AbpTool
from catalog.model.errors import Trouble
from catalog.model.fields import SEARCHED


def create(db: Database) -> None:
    """Create all views, then the full-text tables over tables and views."""
    for name, query in _VIEWS.items():
        db.create_view(name, query.strip())
    for table, content, columns in (
        ("skills_fts", "skills", _NAMED),
        ("skill_text_fts", "searched_texts", _WHOLE),
    ):
        db.execute(
            f'CREATE VIRTUAL TABLE {table} USING fts5 ({columns}, content="{content}",'
            ' content_rowid="id", tokenize="porter unicode61")'
        )
        # Words of one batch stay in memory, instead of being merged from a segment a megabyte.
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', 8388608)")
    db.execute("CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab ('skills_fts', 'row')")
    for trigger in _TRIGGERS:
        db.execute(trigger)


_NAMED = ", ".join((*SEARCHED, "grams"))
_WHOLE = f"body, headings, file_names, body_grams, {_NAMED}"
"""The column with most words is first: SQLite stores the number of every other one with each."""

_TROUBLE, _TOOL = ([field.name for field in fields(record)] for record in (Trouble, AbpTool))
_RECOVERY = ("recovered_at", "reason", "damaged_file", "packages_removed")


def _fields(item: str, names: Iterable[str]) -> str:
    """Return the fields of JSON objects, of which `json_each` gives an item, as columns."""
    return ", ".join(f"json_extract({item}.value, '$.{name}') AS {name}" for name in names)


_VIEWS = {
    # Texts come from subqueries: SQLite would read a view with a join whole, to join it again.
    # The next two have the names of the product specification.
    "skill_definitions": """
SELECT s.id, s.skill_id AS skillId, s.name, s.description, s.file_inventory AS fileInventory,
       v.version AS currentVersion, s.status = 'active' AS isActive,
       (SELECT text FROM texts WHERE id = v.text_id) AS skill_md_content
FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
UNION ALL
SELECT id, skill_id, name, description, file_inventory, NULL, 0, NULL
FROM skills WHERE current_version_id IS NULL
""",
    "skill_packages": """
SELECT version, skill_md_hash, file_inventory, package_path, skill_id AS skillId FROM versions
""",
    "version_contents": """
SELECT v.*, ifnull((SELECT text FROM texts WHERE id = v.text_id), '') AS skill_md_content
FROM versions AS v
""",
    "file_contents": """
SELECT f.*, (SELECT text FROM texts WHERE id = f.text_id) AS text FROM files AS f
""",
    "left_out_files": """
SELECT s.id AS skill, json_extract(f.value, '$[0]') AS path,
       json_extract(f.value, '$[1]') AS reason, json_extract(f.value, '$[2]') AS detail
FROM skills AS s, json_each(s.files_left_out) AS f
""",
    "mirrors": """
SELECT path AS root, git_url AS url, git_ref AS ref, git_path AS path, git_commit,
       git_pulled_at AS pulled_at, git_trouble AS trouble
FROM roots WHERE git_url IS NOT NULL
""",
    "index_left_out": """
SELECT i.name AS index_name, s.id AS skill, s.skill_id, s.name,
    CASE
        WHEN s.model_invocable = 0 THEN 'hidden'
        WHEN json_array_length(i.filter, '$.levels') > 0 AND s.level NOT IN
             (SELECT value FROM json_each(i.filter, '$.levels')) THEN 'filtered'
        WHEN json_array_length(i.filter, '$.names') > 0 AND s.name NOT IN
             (SELECT value FROM json_each(i.filter, '$.names')) THEN 'filtered'
        WHEN json_array_length(i.filter, '$.tags') > 0 AND NOT EXISTS
             (SELECT 1 FROM json_each(i.filter, '$.tags') AS wanted
              JOIN json_each(s.tags) AS has ON has.value = wanted.value) THEN 'filtered'
        ELSE 'over_budget'
    END AS reason
FROM indexes AS i CROSS JOIN skills AS s
WHERE s.status = 'active' AND NOT EXISTS
    (SELECT 1 FROM index_entries AS e WHERE e.skill = s.id AND e.index_name = i.name)
""",
    "troubles": f"SELECT {_fields('t', _TROUBLE)} FROM health AS h, json_each(h.troubles) AS t",
    "recoveries": f"""
SELECT {_fields("r", _RECOVERY)},
       json_type(r.value, '$.packages_removed') IS 'null' AS is_under_way
FROM health AS h, json_each(h.recoveries) AS r
""",
    "abp_tools": f"""
SELECT a.skill, t.key AS position, {_fields("t", _TOOL)}
FROM apexbridge_skills AS a, json_each(a.tools) AS t
""",
    # The body is cut out by bytes: SQLite counts the characters of a text up to a NUL only.
    "searched_texts": f"""
SELECT t.id,
       replace(replace(CAST(substr(
           CAST((SELECT text FROM texts WHERE id = v.text_id) AS BLOB), t.body_from, t.body_bytes
       ) AS TEXT), char(13, 10), char(10)), char(13), char(10)) AS body,
       t.headings, t.file_names, t.body_grams, {", ".join(f"s.{c}" for c in _NAMED.split(", "))}
FROM skill_text AS t JOIN skills AS s ON s.id = t.id JOIN versions AS v ON v.id = t.version
""",
}

_OLD, _NEW = (", ".join(f"{row}.{c}" for c in _NAMED.split(", ")) for row in ("old", "new"))
_CHANGE = f"UPDATE OF {_NAMED} ON skills WHEN ({_OLD}) IS NOT ({_NEW})"
_ADD_NAMES = f"INSERT INTO skills_fts (rowid, {_NAMED}) VALUES (new.id, {_NEW});"
_DROP_NAMES = (
    f"INSERT INTO skills_fts (skills_fts, rowid, {_NAMED}) VALUES ('delete', old.id, {_OLD});"
)
_ADD_TEXT = f"""
INSERT INTO skill_text_fts (rowid, {_WHOLE})
SELECT id, {_WHOLE} FROM searched_texts WHERE id = new.id;
"""
_DROP_TEXT = f"""
INSERT INTO skill_text_fts (skill_text_fts, rowid, {_WHOLE})
SELECT 'delete', id, {_WHOLE} FROM searched_texts WHERE id = old.id;
"""
# A text can be removed from a full-text table only as it was added, so before it changes.
_TRIGGERS = (
    f"CREATE TRIGGER skills_inserted AFTER INSERT ON skills BEGIN {_ADD_NAMES} END",
    f"CREATE TRIGGER skills_deleted AFTER DELETE ON skills BEGIN {_DROP_NAMES} END",
    f"CREATE TRIGGER skills_changing BEFORE {_CHANGE} BEGIN {_DROP_NAMES} {_DROP_TEXT} END",
    f"CREATE TRIGGER skills_changed AFTER {_CHANGE} BEGIN {_ADD_NAMES} {_ADD_TEXT} END",
    f"CREATE TRIGGER skill_text_inserted AFTER INSERT ON skill_text BEGIN {_ADD_TEXT} END",
    f"CREATE TRIGGER skill_text_deleted BEFORE DELETE ON skill_text BEGIN {_DROP_TEXT} END",
    f"CREATE TRIGGER skill_text_changing BEFORE UPDATE ON skill_text BEGIN {_DROP_TEXT} END",
    f"CREATE TRIGGER skill_text_changed AFTER UPDATE ON skill_text BEGIN {_ADD_TEXT} END",
)

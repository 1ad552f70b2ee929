"""Rows derived from the current versions of skills: references as written, and dialects."""

from collections.abc import Iterable
from dataclasses import fields

from catalog.database.sql import columns, to_json
from catalog.database.writer import Writer
from catalog.model.declarations import RECORDS
from catalog.model.skill import SkillReference


def write(db: Writer, skills: Iterable[int]) -> None:
    """Replace the rows of skills, whose versions are written, in the caller's transaction.

    The references are unresolved. Each dialect has a table of its own.
    """
    ids = [to_json(list(skills))]
    for table in ("skill_references", *(f"{name}_skills" for name in RECORDS)):
        db.execute(f"DELETE FROM {table} WHERE skill IN (SELECT value FROM json_each(?))", ids)
    db.execute(_REFERENCES, ids)
    for name, record in RECORDS.items():
        names = [field.name for field in fields(record)]
        values = (f"json_extract(v.described, '$.{name}.{field}')" for field in names)
        db.execute(
            f"INSERT INTO {name}_skills (skill, {columns(names)}) SELECT s.id, {', '.join(values)}"
            f" FROM {_CURRENT} WHERE json_extract(v.described, '$.{name}') IS NOT NULL",
            ids,
        )


_CURRENT = """
    json_each(?) AS touched CROSS JOIN skills AS s ON s.id = touched.value
    CROSS JOIN versions AS v ON v.id = s.current_version_id
"""
_VALUES = ", ".join(f"json_extract(r.value, '$[{n}]')" for n in range(len(SkillReference._fields)))
_REFERENCES = f"""
    INSERT INTO skill_references (skill, {columns(SkillReference._fields)})
    SELECT s.id, {_VALUES} FROM {_CURRENT} CROSS JOIN json_each(v.described, '$.references') AS r
"""

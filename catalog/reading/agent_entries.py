"""Entries of a directory of skills for agents: one for each selected skill, under its name."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from catalog.database import sql
from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database
from catalog.model.naming import entry_name
from catalog.model.paths import os_path
from catalog.model.selection import Selection
from catalog.prompt_index import query

HAS_ENTRY = "s.status = 'active' AND (s.model_invocable = 1 OR s.user_invocable = 1)"
"""Condition of the skills `s` that may have an entry."""


class Entry(NamedTuple):
    """Entry of one skill."""

    name: str  # of its folder
    skill: str
    skill_id: str
    package_path: str | None  # `<skill_id>/<version>`; None where it is published in place
    folder: str  # the skill folder itself; a path inside an archive is no path on the disk
    in_archive: bool


def entries(
    db: Database, selection: Selection, skill_ids: Collection[str] | None = None
) -> Iterator[Entry]:
    """Yield the entries of the selected skills, or of those with these skill_ids, as in an index.

    Skills that neither agents nor users may start have none. No two entries have the same name.
    """
    conditions = [HAS_ENTRY, *query.conditions(selection)]
    if skill_ids is not None:
        conditions.append("s.skill_id IN (SELECT value FROM json_each(:skill_ids))")
    rows = db.query(
        "SELECT s.name, s.skill_id, s.package_path, s.root, s.path"
        f" FROM skills AS s INDEXED BY {'skills_by_status' if skill_ids is None else _BY_ID}"
        f" WHERE {' AND '.join(conditions)} ORDER BY {INDEX_ORDER}",
        {key: sql.to_json(values) for key, values in selection._asdict().items()}
        | {"skill_ids": sql.to_json(sorted(skill_ids or ()))},
    )
    for row in rows:
        yield Entry(
            entry_name(row["name"], row["skill_id"]),
            row["name"],
            row["skill_id"],
            row["package_path"],
            f"{row['root']}/{os_path(row['path'])}",
            "!/" in row["path"],
        )


_BY_ID = "skills_by_skill_id"

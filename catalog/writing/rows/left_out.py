"""Rows of the files in skill folders that are part of no version."""

from collections.abc import Sequence
from sqlite3 import Connection

from catalog.database.sql import insert, to_json
from catalog.model.change import Change, Judged
from catalog.model.skill import LeftOutFile
from catalog.writing.rows.unit_of_work import place_of

_COLUMNS = ("skill", "path", "reason", "detail")


def replace(db: Connection, changes: Sequence[Change]) -> None:
    """Replace the rows of the changed skills, whose own rows are already written.

    A removed skill has none. Raises sqlite3.Error.
    """
    left_out = {
        place_of(change): change.verdict.left_out if isinstance(change, Judged) else ()
        for change in changes
    }
    skills = db.execute(_SKILLS, [to_json(list(left_out))]).fetchall()
    stored: dict[int, list[LeftOutFile]] = {skill: [] for skill, *_ in skills}
    for skill, *file in db.execute(_STORED, [to_json(list(stored))]):
        stored[skill].append(LeftOutFile(*file))
    changed = [
        (skill, left_out[root, path])
        for skill, root, path in skills
        if stored[skill] != list(left_out[root, path])
    ]
    db.executemany("DELETE FROM left_out_files WHERE skill = ?", [(skill,) for skill, _ in changed])
    db.executemany(
        insert("left_out_files", _COLUMNS),
        [(skill, *file) for skill, files in changed for file in files],
    )


_SKILLS = """
    SELECT s.id, s.root, s.path FROM json_each(?) AS place JOIN skills AS s
    ON s.root = json_extract(place.value, '$[0]') AND s.path = json_extract(place.value, '$[1]')
"""
_STORED = """
    SELECT l.skill, l.path, l.reason, l.detail FROM json_each(?) AS s
    CROSS JOIN left_out_files AS l ON l.skill = s.value ORDER BY l.skill, l.path
"""

"""Answers of canned queries, page by page, with the skills that they name."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from catalog.database.queries import Database, Row, to_json
from catalog.reading import browse

PAGE = 50
"""Rows on one page."""
MOST = 1_000
"""Rows of an answer that are counted and shown, as in the tables."""


class AnswerPage(NamedTuple):
    """Page of the rows of a query."""

    rows: Sequence[Row]  # with the skill of each as `_skill`: id, skill_id and status, or None
    total: int  # rows on all pages; MOST + 1 where there are more than MOST


def answer(db: Database, sql: str, values: Mapping[str, str], page: int) -> AnswerPage:
    """Return a page of the rows of a query, without paths of the disk above the roots.

    Raises sqlite3.OperationalError.
    """
    cursor = db.execute(sql, dict(values))
    columns = [name for name, *_ in cursor.description]
    first = (page - 1) * PAGE
    rows, total = [], 0
    for total, values_of_row in enumerate(islice(cursor, MOST + 1), 1):
        if first < total <= min(first + PAGE, MOST):
            rows.append(dict(zip(columns, values_of_row, strict=True)))
    folders = browse.disk_folders(db)
    shown = [
        {
            name: browse.shortened_paths(value, folders) if isinstance(value, str) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return AnswerPage(_with_skills(db, shown), total)


def _with_skills(db: Database, rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their skills: by `skill_row`, else by an identifier."""
    by_row = _skills(db, "s.id", [row["skill_row"] for row in rows if row.get("skill_row")])
    named = {row[name] for row in rows for name in _NAMES if isinstance(row.get(name), str)}
    by_name = _skills(db, "s.skill_id", named)
    return [
        row
        | {
            "_skill": by_row.get(row["skill_row"])
            if "skill_row" in row
            else next((by_name[row[name]] for name in _NAMES if row.get(name) in by_name), None)
        }
        for row in rows
    ]


def _skills(db: Database, column: str, keys: Iterable[int | str]) -> dict[int | str, Row]:
    rows = db.query(
        f"SELECT {column} AS key, s.id, s.skill_id, s.status FROM json_each(?) AS wanted"
        f" CROSS JOIN skills AS s ON {column} = wanted.value ORDER BY s.status != 'active' DESC",
        [to_json(sorted(keys, key=str))],
    )
    return {row["key"]: row for row in rows}  # the active one of an identifier is the last


_NAMES = ("skill_id", "skill")

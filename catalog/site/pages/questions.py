"""Questions: the canned queries of the metadata as pages with a form, linked names and days.

A query's `layout` names columns: the `title` and the `figure` of a row, its `badges`, its `text`,
text to unfold (`more`), and the time whose `day` groups the rows. All other columns are facts. A
query with a `page` is answered by that page of the site. A field of its form has a `label`, a
`hint`, a `kind` (text or number), a `value` unless another is given, and whether it `is_needed`:
nothing is answered before the form is sent.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from datasette import Response

from catalog.database.queries import Database, Row, to_json
from catalog.reading import disk_paths
from catalog.site.http import location
from catalog.site.http.request import RequestContext
from catalog.text.suggestions import shown

PAGE = 25
"""Rows on one page."""
MOST = 1_000
"""Rows of an answer that are counted and shown, as in the tables."""
_LIMIT = re.compile(r"\blimit (\d+)\s*\Z", re.IGNORECASE)
_LAYOUT = {"title": "", "figure": "", "day": "", "badges": (), "text": (), "more": ()}
_FIELD = {"hint": "", "kind": "text", "value": "", "is_needed": False}
_NAMES = ("skill_id", "skill")


class AnswerPage(NamedTuple):
    """Page of the rows of a query."""

    rows: Sequence[Row]  # with the skill of each as `_skill`: id, skill_id and status, or None
    total: int  # rows on all pages; MOST + 1 where there are more than MOST


async def listing(context: RequestContext) -> Response:
    """Show all questions by group."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for question in (await _questions(context)).values():
        groups.setdefault(question["group"], []).append(question)
    return context.page("questions.html", groups=groups)


async def page(context: RequestContext) -> Response:
    """Show the form of a question and a page of its answer."""
    name, args = context.path_part("name"), context.request.args
    question = (await _questions(context)).get(name)
    if not question:
        return context.not_found(f"No question has the name {shown(name)}.")
    if question["page"]:
        return Response.redirect(context.path(question["page"]))
    fields = question["fields"]
    given = {
        key: context.parameter(key).strip() if key in args else field["value"]
        for key, field in fields.items()
    }
    number = context.number("page") or 1
    is_asked = all(key in args for key, field in fields.items() if field["is_needed"])
    answer = (
        await _answer(context, question["sql"], given, number) if is_asked else AnswerPage((), 0)
    )
    rows, total = answer or ((), 0)
    day = question["layout"]["day"]
    return context.page(
        "question.html",
        question=question,
        given=given,
        days=groupby(rows, lambda row: str(row[day])[:10] if day else ""),
        total=total,
        most=MOST,
        limit=int(limit[1]) if (limit := _LIMIT.search(question["sql"])) else 0,
        number=number,
        pages=-(-min(total, MOST) // PAGE),
        is_asked=is_asked,
        is_counted=answer is not None,
    )


async def _answer(
    context: RequestContext, sql: str, given: Mapping[str, str], number: int
) -> AnswerPage | None:
    """Return a page of the answer; None if it is about reads, and no reads are counted."""
    try:
        return await context.query(_read, sql, given, number)
    except sqlite3.OperationalError as error:
        if "no such table: usage." not in str(error):
            raise
        return None


def _read(db: Database, sql: str, values: Mapping[str, str], page: int) -> AnswerPage:
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
    folders = disk_paths.disk_folders(db)
    visible = [
        {
            name: disk_paths.shortened_paths(value, folders) if isinstance(value, str) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return AnswerPage(_with_skills(db, visible), total)


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


async def _questions(context: RequestContext) -> dict[str, dict[str, Any]]:
    """Return the canned queries that the visitor may run, by name, with all their settings."""
    datasette, database = context.datasette, context.location.database.name
    return {
        name: {
            "title": name.replace("_", " "),
            "description": "",
            "group": "Other questions",
            "page": "",
            **query,
            "name": name,
            "layout": _LAYOUT | (query.get("layout") or {}),
            "fields": {
                field: {"label": field.replace("_", " "), **_FIELD}
                | (query.get("fields") or {}).get(field, {})
                for field in query.get("params") or ()
            },
        }
        for name, query in location.queries(datasette, database).items()
        if not query.get("write")
        and await location.may_see(datasette, context.request.actor, database, name)
    }

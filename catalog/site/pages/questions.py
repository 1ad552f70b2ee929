"""Questions: the canned queries of the metadata as pages with a form, linked names and days.

A query's `layout` names columns: the `title` and the `figure` of a row, its `badges`, its `text`,
text to unfold (`more`), and the time whose `day` groups the rows. All other columns are facts. A
query with a `page` is answered by that page of the site. A field of its form has a `label`, a
`hint`, a `kind` (text or number), a `value` unless another is given, and whether it `is_needed`:
nothing is answered before the form is sent.
"""

import re
import sqlite3
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from datasette import Response

from catalog.reading import questions
from catalog.reading.questions import AnswerPage
from catalog.site.http import location
from catalog.site.http.request import RequestContext
from catalog.text.suggestions import shown

_LIMIT = re.compile(r"\blimit (\d+)\s*\Z", re.IGNORECASE)
_LAYOUT = {"title": "", "figure": "", "day": "", "badges": (), "text": (), "more": ()}
_FIELD = {"hint": "", "kind": "text", "value": "", "is_needed": False}


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
        most=questions.MOST,
        limit=int(limit[1]) if (limit := _LIMIT.search(question["sql"])) else 0,
        number=number,
        pages=-(-min(total, questions.MOST) // questions.PAGE),
        is_asked=is_asked,
        is_counted=answer is not None,
    )


async def _answer(
    context: RequestContext, sql: str, given: Mapping[str, str], number: int
) -> AnswerPage | None:
    """Return a page of the answer; None if it is about reads, and no reads are counted."""
    try:
        return await context.query(questions.answer, sql, given, number)
    except sqlite3.OperationalError as error:
        if "no such table: usage." not in str(error):
            raise
        return None


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

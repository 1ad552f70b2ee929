"""Questions: the canned queries of the metadata as pages with a form, linked names and days."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from datasette import Response

from catalog.database.sql import Row
from catalog.reading import dangers, questions
from catalog.site.http import datasette_versions
from catalog.site.http.request import RequestContext
from catalog.text.suggestions import shown

OTHER = "Other questions"
"""Group of the questions that name none."""
_LIMIT = re.compile(r"\blimit (\d+)\s*\Z", re.IGNORECASE)
_LINKS = frozenset({"skill_row", "outcome_row", "_skill"})  # columns that only lead on


class Field(NamedTuple):
    """Parameter of a question in its form."""

    label: str
    hint: str = ""
    kind: str = "text"  # or number
    value: str = ""  # unless another is given
    is_needed: bool = False  # whether nothing is answered before the form is sent


class Question(NamedTuple):
    """Canned query with its settings in the metadata.

    `layout` names columns: the `title` and the `figure` of a row, its `badges`, its `text`, text to
    unfold (`more`), and the time whose `day` groups the rows. All other columns are facts.
    A question with a `page` is answered by that page of the site.
    """

    name: str
    title: str
    description: str
    group: str
    page: str
    sql: str
    fields: Mapping[str, Field]  # by parameter
    layout: Mapping[str, Any]


class Line(NamedTuple):
    """Row of an answer, laid out."""

    title: Any
    skill: Row | None
    figure: tuple[str, Any] | None  # name of its column, and the value
    badges: Sequence[Any]
    texts: Sequence[tuple[str, Any]]
    more: Sequence[tuple[str, Any]]
    facts: Sequence[tuple[str, Any]]
    day: str


async def listing(context: RequestContext) -> Response:
    """Show all questions by group."""
    asked = [_question(name, query) for name, query in (await _queries(context)).items()]
    groups: dict[str, list[Question]] = {}
    for question in asked:
        groups.setdefault(question.group, []).append(question)
    return context.page("questions.html", groups=groups)


async def page(context: RequestContext) -> Response:
    """Show the form of a question and a page of its answer."""
    name = context.path_part("name")
    query = (await _queries(context)).get(name)
    if not query:
        return context.not_found(f"No question has the name {shown(name)}.")
    question = _question(name, query)
    if question.page:
        return Response.redirect(context.path(question.page))
    given = {key: _value(context, key, field) for key, field in question.fields.items()}
    number = context.number("page") or 1
    answer = await _answer(context, question, given, number)
    lines = [_line(row, question.layout) for row in answer.rows] if answer else []
    return context.page(
        "question.html",
        question=question,
        given=given,
        days=[(day, list(of_day)) for day, of_day in groupby(lines, lambda line: line.day)],
        total=answer.total if answer else 0,
        most=questions.MOST,
        limit=int(limit[1]) if (limit := _LIMIT.search(question.sql)) else 0,
        number=number,
        pages=-(-min(answer.total, questions.MOST) // questions.PAGE) if answer else 0,
        is_asked=_is_asked(context, question),
        is_counted=answer is not None,
    )


async def _answer(
    context: RequestContext, question: Question, given: Mapping[str, str], number: int
) -> questions.Answer | None:
    """Return a page of the answer; None if it is about reads, and no reads are counted."""
    if not _is_asked(context, question):
        return questions.Answer((), 0)
    try:
        return await context.query(questions.answer, question.sql, given, number)
    except sqlite3.OperationalError as error:
        if "no such table: usage." not in str(error):
            raise
        return None


def _is_asked(context: RequestContext, question: Question) -> bool:
    """Return whether the address has all parameters without which nothing is answered."""
    return all(
        name in context.request.args for name, field in question.fields.items() if field.is_needed
    )


async def _queries(context: RequestContext) -> dict[str, Any]:
    """Return the canned queries that the visitor may run, by name."""
    datasette, database = context.datasette, context.location.database.name
    return {
        name: query
        for name, query in datasette_versions.queries(datasette, database).items()
        if not query.get("write")
        and await datasette_versions.may_see(datasette, context.request.actor, database, name)
    }


def _question(name: str, query: Mapping[str, Any]) -> Question:
    fields = query.get("fields") or {}
    return Question(
        name,
        query.get("title") or name.replace("_", " "),
        query.get("description") or "",
        query.get("group") or OTHER,
        query.get("page") or "",
        query["sql"],
        {
            name: Field(**{"label": name.replace("_", " ")} | (fields.get(name) or {}))
            for name in query.get("params") or ()
        },
        query.get("layout") or {},
    )


def _value(context: RequestContext, name: str, field: Field) -> str:
    is_given = name in context.request.args
    return context.parameter(name).strip() if is_given else field.value


def _line(row: Row, layout: Mapping[str, Any]) -> Line:
    title = layout.get("title") or next(iter(row))
    day = layout.get("day")
    figure = layout.get("figure", day)
    badges, texts, more = (layout.get(part, ()) for part in ("badges", "text", "more"))
    used = {
        title,
        figure,
        *badges,
        *texts,
        *more,
        *_LINKS,
        *(["skill_id"] if row["_skill"] else []),
    }
    if {"severity", "code"} <= row.keys():
        row = row | {"severity": dangers.grade(row)}
    return Line(
        row[title],
        row["_skill"],
        (figure, row[figure]) if figure else None,
        [row[name] for name in badges if row[name]],
        [(name, row[name]) for name in texts if row[name]],
        [(name, row[name]) for name in more if row[name]],
        [
            (name, value)
            for name, value in row.items()
            if name not in used and value not in (None, "", "[]")
        ],
        str(row[day])[:10] if day else "",
    )

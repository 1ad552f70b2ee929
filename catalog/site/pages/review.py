"""Page of the versions that wait for review, each with its changes."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from datasette import Response

from catalog.database.sql import Row
from catalog.prompt_index.query import one_moment
from catalog.reading import review, version_changes
from catalog.reading.browse import Catalog
from catalog.reading.review import Waiting
from catalog.site.http.request import RequestContext
from catalog.site.rendering.diff_rows import Part, compare, take
from catalog.text.differences import Work

PAGE = 10
"""Versions on one page."""
ROOM = 30_000
"""Approximate characters of the differences of one version; the page of the version has all."""
COMPARED_CHARS = 400_000
"""Characters of texts that are compared for one version."""


class Item(NamedTuple):
    """Version on the page."""

    waiting: Waiting
    part: Part


class _Compared(NamedTuple):
    waiting: Waiting
    old: dict[str, Row]
    new: dict[str, Row]


async def page(context: RequestContext) -> Response:
    """Show the versions that wait for review, the longest waiting first."""
    number = context.number("page") or 1
    compared = await context.query(_load, number)
    shown = compared[:PAGE]
    items = await asyncio.to_thread(_items, shown)
    return context.page("review.html", items=items, number=number, has_more=len(compared) > PAGE)


def _load(db: Catalog, number: int) -> list[_Compared]:
    """Return the versions of a page with the files that differ, and one more if there is one."""
    with one_moment(db):
        rows = review.waiting(db, limit=PAGE + 1, offset=(number - 1) * PAGE)
        return [
            _Compared(
                row,
                *version_changes.changed_files(
                    db, row.row["published_id"], row.row["version_id"], room=COMPARED_CHARS
                ),
            )
            for row in rows
        ]


def _items(compared: Sequence[_Compared]) -> list[Item]:
    """Return the versions with their differences."""
    return [
        Item(one.waiting, take(compare(one.old, one.new, Work()), room=ROOM)) for one in compared
    ]

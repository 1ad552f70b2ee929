"""Pages of the prompt indexes: skills with their words and cuts, texts and history."""

from typing import Any

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.listings.agents import AGENTS
from catalog.model.errors import NotInCatalog
from catalog.reading import disk_paths, index_views, told_skills
from catalog.site.http.request import RequestContext
from catalog.text.suggestions import shown

MOST_NAMES = 200
"""Names of skills, told in the same way, that are shown of one directory."""
STATES = ("full", "shortened", "name_only")
LEFT_OUT = "left_out"


async def listing(context: RequestContext) -> Response:
    """Show all indexes, and what agents tell about the skills in directories of theirs."""
    indexes = await context.query(index_views.indexes)
    names = [row["name"] for row in indexes]
    return context.page(
        "indexes.html",
        directories=await context.query(told_skills.of_directories),
        indexes=indexes,
        little={name: await context.query(index_views.with_little, name) for name in names},
        agents=AGENTS,
        labels=told_skills.LABELS,
        counts=told_skills.counts,
        most=MOST_NAMES,
    )


async def page(context: RequestContext) -> Response:
    """Show a page of the skills in an index, or of the others, with their words."""
    name, words = context.path_part("name"), context.parameter("q").strip()
    asked = context.parameter("show")
    show = asked if asked in (*STATES, index_views.LITTLE, LEFT_OUT) else ""
    number = context.number("page") or 1
    values = await context.query(_entries, name, show, words, number)
    return context.page("index.html", show=show, words=words, number=number, **values)


async def history(context: RequestContext) -> Response:
    """Show the publications of an index, newest first."""
    name, number = context.path_part("name"), context.number("page") or 1
    index = await context.query(_index, name)
    rows = await context.query(index_views.builds, name, number)
    return context.page(
        "index_history.html",
        index=index,
        builds=rows[: index_views.PAGE],
        number=number,
        has_more=len(rows) > index_views.PAGE,
    )


async def text(context: RequestContext) -> Response:
    """Show the text of a publication: the newest one, or one by its id."""
    name, id_ = context.path_part("name"), context.number("build")
    index = await context.query(_index, name)
    build = await context.query(_build, name, id_)
    return context.page("index_text.html", index=index, build=build)


def _index(db: Database, name: str) -> Row:
    if index := index_views.index(db, name):
        return index
    raise NotInCatalog(f"No index has the name {shown(name)}.")


def _entries(db: Database, name: str, show: str, words: str, number: int) -> dict[str, Any]:
    index = _index(db, name)
    if show == LEFT_OUT:
        rows = index_views.index_left_out(db, name, words, number)
    else:
        rows = index_views.index_entries(db, name, show, words, number)
    sizes = index_views.state_sizes(db, name)
    return {
        "index": index,
        "rows": rows[: index_views.PAGE],
        "has_more": len(rows) > index_views.PAGE,
        "left_out": index_views.left_out_counts(db, index),
        "little": index_views.with_little(db, name),
        "sizes": {state: sizes.get(state, 0) for state in STATES},
    }


def _build(db: Database, name: str, id_: int | None) -> Row | None:
    """Return a publication with its text, without paths of the disk above the data directory."""
    build = index_views.build(db, name, id_)
    folders = disk_paths.disk_folders(db)
    return build and build | {"text": disk_paths.shortened_paths(build["text"], folders)}

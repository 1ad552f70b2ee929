"""Page of the changes between two versions of a skill."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from datasette import Response

from catalog.database.sql import Row
from catalog.prompt_index.query import one_moment
from catalog.reading import browse, version_changes
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, row_query
from catalog.site.rendering.diff_rows import compare, take
from catalog.text.differences import Work

COMPARED_CHARS = 4_000_000
"""Characters of texts that one page compares; further files are compared one by one."""


class _Pair(NamedTuple):
    """Two versions of a skill, with the files that differ."""

    skill: Row
    versions: list[Row]
    version: Row
    before: Row | None  # None for the first version
    old: dict[str, Row]
    new: dict[str, Row]


async def page(context: RequestContext) -> Response:
    """Show the changes from the version before, or from the one that the query names."""
    skill_id, name = context.path_part("skill_id"), context.path_part("version")
    against, only = context.parameter("against"), context.parameter("file")
    packages = context.location.packages
    pair = await context.query(_load, packages, skill_id, name, against, only)
    if isinstance(pair, str):
        return context.not_found(pair)
    if not pair:
        return await missing.skill(context, skill_id)
    first = context.number("from") or 0
    part = await asyncio.to_thread(lambda: take(compare(pair.old, pair.new, Work()), first))
    return context.page(
        "diff.html",
        skill=pair.skill,
        row_query=row_query(pair.skill),
        version=pair.version,
        before=pair.before,
        versions=pair.versions[:COMPARED_VERSIONS],
        part=part,
        only=only,
        against=against,
    )


def _load(
    db: Catalog, packages: Path, skill_id: str, name: str, against: str, only: str
) -> _Pair | str | None:
    """Return two versions; a sentence if one is unknown, None if the skill is."""
    with one_moment(db):
        found = browse.version(db, skill_id, name)
        skill = browse.skill(db, skill_id, found["skill"] if found else None)
        if not skill:
            return None
        versions = browse.versions(db, skill["id"])
        names = [row["version"] for row in versions]
        for asked in filter(None, (name, against)):
            if asked not in names:
                return f"{skill['name']} has no version {asked}."
        index = names.index(name)
        version, older = versions[index], versions[index + 1 : index + 2]
        before = versions[names.index(against)] if against else next(iter(older), None)
        old, new = version_changes.changed_files(
            db,
            before["id"] if before else None,
            version["id"],
            only,
            room=COMPARED_CHARS,
            packaged=version_changes.texts_in_packages(
                db, packages, skill, {row["id"]: row["version"] for row in versions}
            ),
        )
        return _Pair(skill, versions, version, before, old, new)

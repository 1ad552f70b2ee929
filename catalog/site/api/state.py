"""Endpoint that open pages ask whether the things they show have changed.

A conditional poll and no stream: a stream would hold one of the site's few connections for each
open page, and proxies cut it. The answer is mostly 304.
"""

from datasette import Response

from catalog.reading import newest_change
from catalog.site.http import errors, responses
from catalog.site.http.request import RequestContext, header_health

OF_SKILL = "skill:"
"""Beginning of the parameter `about` for one skill; its skill_id follows."""


async def page(context: RequestContext) -> Response:
    """Return the id of the newest change of the catalog, with its health, or of a skill."""
    state: dict[str, int | str]
    about = context.parameter("about")
    if about.startswith(OF_SKILL):
        skill_id = about.removeprefix(OF_SKILL)
        state = {"newest_change": await context.query(newest_change.of_skill, skill_id)}
    elif about:
        return errors.as_json(f"The parameter about is {OF_SKILL}ID, or is left out.", 400)
    else:
        health = await header_health(context.datasette, context.location)
        state = {
            "newest_change": health.newest_change if health else 0,
            "health": health.tone if health else "bad",
        }
    etag = "-".join(map(str, state.values()))
    return responses.of_json(context.request, state, etag=etag)

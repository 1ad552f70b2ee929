"""Reports of agents that loaded a skill from the disk, where no process of skilldrop sees it."""

import json
from collections.abc import Mapping

from datasette import Response

from catalog.model.errors import NotInCatalog
from catalog.reading.files.published import package_of
from catalog.site.http import access, limits, responses
from catalog.site.http.request import RequestContext

MOST_BYTES = 2**16
"""Most bytes of a report, of which only the name of the skill is used."""


async def receive(context: RequestContext) -> Response:
    """Count the report of a program on this machine, or of one with a reader's token."""
    request = context.request

    def refuse(status: int, message: str, headers: Mapping[str, str] = {}) -> Response:
        return responses.refusal(context.datasette, request.path, message, status, headers)

    is_web_page = "origin" in request.headers
    if is_web_page or not (context.is_local or access.is_guarded(request.scope)):
        return refuse(403, "A report comes from a program on this machine, or with a token.")
    if wait := limits.seconds_to_wait(context.datasette, request.scope["client"][0]):
        return refuse(429, "There are too many reports.", {"Retry-After": str(wait)})
    body, has_more = b"", True
    while has_more and len(body) <= MOST_BYTES:
        message = await request.receive()  # of a client that has gone: without a body
        body, has_more = body + message.get("body", b""), message.get("more_body", False)
    if len(body) > MOST_BYTES:
        return refuse(413, f"A report has at most {MOST_BYTES:,} bytes.")
    if not (name := _skill(body)):
        return refuse(400, 'A report is {"skill": "NAME"}, or the input of a hook that has one.')
    try:
        package = await context.query(package_of, context.location.packages, name, by_id=True)
    except NotInCatalog as error:
        return refuse(404, str(error))
    context.count_skill(package.skill_id, package.version, "agent")
    return Response("", 204)


def _skill(report: bytes) -> str | None:
    """Return the name of the skill in a report; None without one.

    Of Claude Code's hooks, PostToolUse has the skills that the model loads, and UserPromptExpansion
    those that a person types: https://code.claude.com/docs/en/hooks. Gemini CLI has AfterTool.
    """
    try:
        match json.loads(report):
            case (
                {"skill": str(name)}
                | {"tool_name": "Skill", "tool_response": {"commandName": str(name)}}
                | {"tool_name": "activate_skill", "tool_input": {"name": str(name)}}
                | {"expansion_type": "slash_command", "command_name": str(name)}
            ):
                return name
    except (ValueError, RecursionError):
        pass
    return None

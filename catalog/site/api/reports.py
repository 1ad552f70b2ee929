"""Reports of agents that loaded a skill from the disk, where no process of skilldrop sees it."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from datasette import Response

from catalog.model.errors import NotInCatalog
from catalog.reading.files.published import package_of
from catalog.site.http import access, responses
from catalog.site.http.request import RequestContext

MOST_BYTES = 2**20
"""Most bytes of a report, of which only the names of skills are used."""
_MOST_SKILLS = 100


async def receive(context: RequestContext) -> Response:
    """Count the report of a program on this machine, or of one with a reader's token."""
    request = context.request

    def refuse(status: int, message: str) -> Response:
        return responses.refusal(context.datasette, request.path, message, status)

    is_web_page = "origin" in request.headers
    if is_web_page or not (context.is_local or access.is_guarded(request.scope)):
        return refuse(403, "A report comes from a program on this machine, or with a token.")
    body, has_more = b"", True
    while has_more and len(body) <= MOST_BYTES:
        message = await request.receive()  # of a client that has gone: without a body
        body, has_more = body + message.get("body", b""), message.get("more_body", False)
    if len(body) > MOST_BYTES:
        return refuse(413, f"A report has at most {MOST_BYTES:,} bytes.")
    if (names := _skills(body)) is None:
        return refuse(400, 'A report is {"skill": "NAME"}, or the input of a hook that has one.')
    answer = Response("", 204)
    for name in names:
        try:
            package = await context.query(package_of, context.location.packages, name, by_id=True)
        except NotInCatalog as error:
            answer = refuse(404, str(error))
        else:
            context.count_skill(package.skill_id, package.version, "agent")
    return answer


def _skills(report: bytes) -> list[str] | None:
    """Return the names of the skills in a report; None if it is none.

    Of Claude Code's hooks, PostToolUse has the skills that the model loads, and UserPromptExpansion
    those that a person types: https://code.claude.com/docs/en/hooks. Gemini CLI has AfterTool.
    Codex sends its log, as OTLP/HTTP in JSON.
    """
    try:
        match json.loads(report):
            case (
                {"skill": str(name)}
                | {"tool_name": "Skill", "tool_response": {"commandName": str(name)}}
                | {"tool_name": "activate_skill", "tool_input": {"name": str(name)}}
                | {"expansion_type": "slash_command", "command_name": str(name)}
            ):
                return [name] if name else None
            case {"resourceLogs": [*logs]}:
                return list(islice(_in_log(logs), _MOST_SKILLS))
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        pass
    return None


def _in_log(logs: list[Any]) -> Iterator[str]:
    """Yield the names of the skills that were loaded by the events of a log."""
    for record in (each for one in logs for of in one["scopeLogs"] for each in of["logRecords"]):
        values = {each["key"]: each["value"].get("stringValue") for each in record["attributes"]}
        if values.get("event.name") == "codex.skill_invocation":
            yield str(values["skill.name"])

"""Middleware that lets only readers with a token use the MCP server, once there is one."""

import logging

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from catalog.filesystem import token_file
from catalog.filesystem.token_file import TokenFile
from catalog.model.errors import TokensInvalid
from catalog.reading import credentials

log = logging.getLogger("skilldrop")


def wrap(app: ASGIApp, file: TokenFile) -> ASGIApp:
    """Return the application behind the readers' tokens, which are those of the site."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, file) if scope["type"] == "http" else None
        await (refusal or app)(scope, receive, send)

    return guarded


def _refusal(scope: Scope, file: TokenFile) -> PlainTextResponse | None:
    """Return the response to a request that may not pass."""
    try:
        tokens = file.tokens()
    except TokensInvalid as error:
        log.error("%s The MCP server is closed until this is repaired.", error)
        return PlainTextResponse("The server cannot read its tokens.\n", 503)
    sent = credentials.of_headers(scope["headers"])
    if not tokens or (sent and token_file.name_of(sent, tokens)):
        return None
    headers = {"WWW-Authenticate": credentials.CHALLENGE, "Cache-Control": "no-store"}
    return PlainTextResponse(f"{credentials.SENTENCE}\n", 401, headers)

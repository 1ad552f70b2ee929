"""Transports of the MCP server: stdin and stdout, or streamable HTTP for readers with a token."""

import logging
import socket
from collections.abc import Sequence
from contextlib import suppress

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from catalog.filesystem import token_file
from catalog.filesystem.token_file import TokenFile
from catalog.mcp.server import SkillServer
from catalog.model.errors import TokensInvalid
from catalog.reading import credentials
from catalog.usage import counter

log = logging.getLogger("skilldrop")


PATH = "/mcp"
"""Path of the server below its address, over HTTP."""

GRACE = 1
"""Seconds for HTTP requests to finish when the server is stopped. All of them only read."""


def serve_stdio(server: SkillServer) -> None:
    """Serve one client on stdin and stdout until it closes them."""

    async def serve() -> None:
        async with stdio_server() as (requests, responses):
            await server.run(requests, responses, server.create_initialization_options())

    anyio.run(serve)


def serve_http(
    server: SkillServer, host: str, port: int, names: Sequence[str], tokens: TokenFile
) -> None:
    """Serve until SIGTERM or SIGINT, only to clients that use one of the host names.

    Where there are tokens, a client sends one.

    This refuses web pages whose own host name resolves to the server's address. No request needs
    an earlier one, so that clients go on after a restart of the server.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        host=host,
        transport_security=_security(host, names),
    )
    config = uvicorn.Config(
        guarded_by_tokens(counter.closing_with(app, server.counter), tokens),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
    )
    with suppress(KeyboardInterrupt):  # uvicorn has stopped by then
        _HttpServer(config, server).run()


class _HttpServer(uvicorn.Server):
    """HTTP server that ends the clients' streams when it stops, rather than wait for them."""

    def __init__(self, config: uvicorn.Config, server: SkillServer) -> None:
        super().__init__(config)
        self._changes = server.changes

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the server."""
        self._changes.end_streams()
        await super().shutdown(sockets)


def _security(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    own = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host, *names}
    hosts = [form for name in sorted(own) for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")],
    )


def guarded_by_tokens(app: ASGIApp, file: TokenFile) -> ASGIApp:
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

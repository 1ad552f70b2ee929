"""Transports of the MCP server: stdin and stdout, or streamable HTTP."""

import socket
from collections.abc import Sequence
from contextlib import suppress

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from catalog.filesystem.token_file import TokenFile
from catalog.mcp import guard
from catalog.mcp.server import SkillServer
from catalog.usage import counter

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
        guard.wrap(counter.closing_with(app, server.counter), tokens),
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

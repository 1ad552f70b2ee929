"""MCP server for finding and reading published skills, on stdin and stdout or over HTTP."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from catalog.filesystem import token_file
from catalog.mcp.access import CatalogAccess, in_thread
from catalog.mcp.prompts import SkillPrompts
from catalog.mcp.resources import SkillResources
from catalog.mcp.skills_extension import SkillsExtension
from catalog.mcp.tools import SkillTools
from catalog.model.errors import TokensInvalid
from catalog.text import credentials
from catalog.usage import database
from catalog.usage.database import ReadCounter

_INSTRUCTIONS = """\
A catalog of Agent Skills: folders of instructions, scripts and references for special tasks.
Find a skill with search_skills. Before you act on it, read its SKILL.md with
read_skill_file, and read its other files when SKILL.md refers to them. The text of a skill was
written by its author, not by the user.
技能目录:先用 search_skills 查找技能,再用 read_skill_file 读取其文件。"""


class SkillServer(Server[None]):
    """MCP server whose tools, resources and prompts open the catalog for each request.

    With is_remote, the clients cannot read the disk of this machine, and get URIs instead of paths.
    Reads are counted if there is a counter, which the caller closes.
    """

    def __init__(
        self,
        catalog: Path,
        packages: Path,
        version: str,
        *,
        is_remote: bool = False,
        counter: ReadCounter | None = None,
    ) -> None:
        # Without this, messages of the library could reach stdout, which belongs to the client.
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        access = CatalogAccess(catalog, packages, counter, is_remote)
        tools, resources = SkillTools(access), SkillResources(access)
        prompts, self.counter = SkillPrompts(access), counter
        super().__init__(
            "skilldrop",
            title="Agent Skills",
            version=version,
            instructions=_INSTRUCTIONS,
            on_list_tools=tools.list,
            on_call_tool=tools.call,
            on_list_resources=in_thread(resources.page),
            on_list_resource_templates=in_thread(resources.templates),
            on_read_resource=in_thread(resources.read),
            on_completion=in_thread(resources.completed),
            on_list_prompts=in_thread(prompts.page),
            on_get_prompt=in_thread(prompts.prompt),
        )
        SkillsExtension(access).add_to(self)


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
    server: SkillServer, host: str, port: int, names: Sequence[str], tokens: Path
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
        guarded_by_tokens(database.closing_with(app, server.counter), tokens),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
    )
    with suppress(KeyboardInterrupt):  # uvicorn has stopped by then
        uvicorn.Server(config).run()


def _security(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    own = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host, *names}
    hosts = [form for name in sorted(own) for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")],
    )


def guarded_by_tokens(app: ASGIApp, file: Path) -> ASGIApp:
    """Return the application behind the readers' tokens, which are those of the site."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, file) if scope["type"] == "http" else None
        await (refusal or app)(scope, receive, send)

    return guarded


def _refusal(scope: Scope, file: Path) -> PlainTextResponse | None:
    """Return the response to a request that may not pass."""
    try:
        tokens = token_file.load(file)
    except TokensInvalid as error:
        log.error("%s", error)
        return PlainTextResponse("The server cannot read its tokens.\n", 503)
    sent = credentials.of_headers(scope["headers"])
    if not tokens or (sent and token_file.is_one_of(tokens, sent)):
        return None
    headers = {"WWW-Authenticate": credentials.CHALLENGE, "Cache-Control": "no-store"}
    return PlainTextResponse(f"{credentials.SENTENCE}\n", 401, headers)

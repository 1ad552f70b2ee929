"""The real MCP server of a shelf, asked by the protocol's own client."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters

from catalog.mcp.server import SkillServer
from tests.support.ports import free_port
from tests.support.shelf import Shelf
from tests.support.waiting import PATIENCE, wait_for


class OpenSession(NamedTuple):
    """Session of a client that stays open for several tests, in a thread of its own."""

    portal: BlockingPortal
    client: Client


Server: TypeAlias = StdioServerParameters | str | SkillServer | OpenSession


def program(shelf: Shelf, *words: str) -> list[str]:
    """Return the command line of the installed program on a shelf."""
    return [
        str(Path(sys.executable).with_name("skilldrop")),
        "--watched",
        str(shelf.root),
        "--data",
        str(shelf.settings.data),
        "mcp",
        *words,
    ]


def over_stdio(shelf: Shelf) -> StdioServerParameters:
    """Return how a client starts the server for itself."""
    command, *words = program(shelf)
    return StdioServerParameters(command=command, args=words, cwd=str(shelf.root))


def in_process(shelf: Shelf, *, is_remote: bool = False) -> SkillServer:
    """Return a server for a client in this process."""
    return SkillServer(
        shelf.settings.catalog_path,
        shelf.packages,
        "0",
        is_remote=is_remote,
    )


@contextmanager
def over_http(shelf: Shelf) -> Iterator[str]:
    """Run a server over HTTP for the time of the block, and yield its address.

    Afterwards it must have ended well, with no message but refusals of foreign hosts.
    """
    port = free_port()
    log = shelf.root.parent / f"mcp-{port}.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(program(shelf, "--http", str(port)), stderr=stderr)

    def check() -> None:
        assert process.poll() is None, log.read_text()

    wait_for(lambda: answers(port), check)
    yield f"http://127.0.0.1:{port}/mcp"
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, log.read_text()
    lines = log.read_text().splitlines()
    assert lines[0].endswith(f"to agents at http://127.0.0.1:{port}/mcp")
    assert all(line.startswith(("Invalid Host", "Invalid Origin")) for line in lines[1:]), lines


def answers(port: int) -> bool:
    """Return whether a server listens at an address."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


@contextmanager
def one_session(server: StdioServerParameters) -> Iterator[OpenSession]:
    """Start a server for one client, and yield the session for the time of the block."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, read_timeout_seconds=60)) as client,
    ):
        yield OpenSession(portal, client)


def session(server: Server, work: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Return the result of work in one session of a real client."""
    if isinstance(server, OpenSession):
        return server.portal.call(work, server.client)

    async def whole() -> Any:
        async with Client(server, read_timeout_seconds=60, **options) as client:
            return await work(client)

    return asyncio.run(whole())

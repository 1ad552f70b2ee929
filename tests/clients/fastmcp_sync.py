"""Script for the Python of the clients: sync all skills of an MCP server into a folder."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.utilities.skills import sync_skills


async def main() -> None:
    """Sync from the server whose command line follows the folder."""
    folder, command, *arguments = sys.argv[1:]
    async with Client(StdioTransport(command, arguments)) as client:
        await sync_skills(client, folder)


asyncio.run(main())

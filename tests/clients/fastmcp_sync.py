"""Script for the Python of the clients: sync all skills of an MCP server into a folder."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.utilities.skills import sync_skills


async def main() -> None:
    """Sync from the server whose command line, or address and token, follow the folder."""
    folder, server, *arguments = sys.argv[1:]
    if server.startswith("http:"):
        transport = StreamableHttpTransport(server, auth=arguments[0] or None)
    else:
        transport = StdioTransport(server, arguments)
    async with Client(transport) as client:
        await sync_skills(client, folder)


asyncio.run(main())

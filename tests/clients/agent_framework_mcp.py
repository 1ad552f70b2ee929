"""Script for the Python of the clients: write the skills of an MCP server into a folder."""

import asyncio
import json
import sys
from pathlib import Path

from agent_framework import MCPSkillsSource, SkillsSourceContext
from mcp import Client, StdioServerParameters


async def main() -> None:
    """Ask an `MCPSkillsSource` for each skill, and for all files that its manifest lists."""
    folder, server, *arguments = sys.argv[1:]
    context = SkillsSourceContext(agent=None)  # type: ignore[arg-type,unused-ignore]  # needs none
    async with Client(StdioServerParameters(command=server, args=arguments)) as client:
        for skill in await MCPSkillsSource(client=client).get_skills(context):
            name = skill.frontmatter.name
            manifest = await skill.get_resource("_manifest")
            for file in json.loads(await manifest.read())["files"] if manifest else ():
                resource = await skill.get_resource(file["path"])
                content = await resource.read() if resource else None
                if file["path"] == "SKILL.md":
                    content = await skill.get_content()
                data = content.encode() if isinstance(content, str) else content or b""
                path = Path(folder, name, file["path"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


asyncio.run(main())

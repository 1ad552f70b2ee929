"""Reads of agents, counted by the real server."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.support.mcp_servers import over_http, over_stdio, session
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a published skill with a long file."""
    made = Shelf(tmp_path)
    skill(made.root / "pdf", files={"references/long.md": "A line of text.\n" * 9000})
    made.scan()
    yield made
    made.close()


async def read_all(client: Client) -> None:
    """Read a file by a tool, as a resource, and in pages; look at lists, and fail once."""
    await client.call_tool("read_skill_file", {"skill_name": "pdf"})
    listed = await client.list_resources()
    uri = next(str(item.uri) for item in listed.resources if str(item.uri).endswith("SKILL.md"))
    await client.read_resource(uri)
    long: dict[str, Any] = {"skill_name": "pdf", "file_path": "references/long.md"}
    for offset in (0, 16_000):
        await client.call_tool("read_skill_file", {**long, "offset": offset})
    await client.call_tool("read_skill_file", {"skill_name": "nothing"})
    await client.call_tool("search_skills", {"query": "pdf"})


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_each_file_that_an_agent_gets_is_counted(shelf: Shelf, transport: str) -> None:
    """Also the last ones before the server is stopped."""
    if transport == "stdio":
        session(over_stdio(shelf), read_all)
    else:
        with over_http(shelf) as url:
            session(url, read_all)
    with closing(sqlite3.connect(shelf.settings.data / "usage.db")) as db:
        rows = db.execute("SELECT skill_id, route, sum(reads) FROM reads GROUP BY 1, 2").fetchall()
    assert rows == [("pdf", "mcp", 3)]

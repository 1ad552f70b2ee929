"""Entry for the MCP registry: as its schema demands, and a command line that works."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.support.mcp_servers import program, session
from tests.support.paths import REPOSITORY
from tests.support.shelf import Shelf
from tests.support.skills import write_skill

ENTRY: dict[str, Any] = json.loads((REPOSITORY / "deploy/server.json").read_text("utf-8"))


def test_the_entry_is_as_the_registry_demands() -> None:
    """The rules are those of the schema that it names, 2025-12-11, for the fields in use."""
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", ENTRY["name"])
    assert 1 <= len(ENTRY["description"]) <= 100
    assert 1 <= len(ENTRY["title"]) <= 100
    (package,) = ENTRY["packages"]
    assert {"registryType", "identifier", "version", "transport"} <= package.keys()
    assert package["transport"] == {"type": "stdio"}
    for argument in package["runtimeArguments"] + package["packageArguments"]:
        if argument["type"] == "named":
            assert argument["name"].startswith("--")
        else:
            assert argument["type"] == "positional"
            assert argument.keys() & {"value", "valueHint"}


def test_the_entry_is_of_this_version() -> None:
    """A release that forgets it would offer the one before."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    (package,) = ENTRY["packages"]
    (source,) = package["runtimeArguments"]
    assert ENTRY["version"] == package["version"] == project["version"]
    assert package["identifier"] == project["name"]
    assert source["value"] == f"{project['name']}[mcp]=={project['version']}"


def test_the_arguments_start_the_server(tmp_path: Path) -> None:
    """They are filled in as a client does, without the program that fetches the package."""
    shelf = Shelf(tmp_path)
    write_skill(shelf.root / "word-count")
    shelf.scan()
    words: list[str] = []
    for argument in ENTRY["packages"][0]["packageArguments"]:
        if argument["type"] == "named":
            words += [argument["name"], str(shelf.settings.data)]
        else:
            words.append(argument["value"])

    async def work(client: Client) -> list[str]:
        return [resource.uri for resource in (await client.list_resources()).resources]

    server = StdioServerParameters(command=program(shelf)[0], args=words, cwd=str(tmp_path))
    assert session(server, work) == ["skill://word-count/SKILL.md"]

"""Entry for the MCP registry: as its schema demands, and a command line that works."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from mcp import Client, StdioServerParameters

from catalog.model.values import VERSION
from tests.support.mcp_servers import program, session
from tests.support.paths import REPOSITORY
from tests.support.shelf import Shelf
from tests.support.skills import write_skill

ENTRY: dict[str, Any] = json.loads((REPOSITORY / "deploy/server.json").read_text("utf-8"))
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
SCHEMA = files("skillsaw.schemas.mcp_registry.v2025_12_11") / "server.schema.json"


def test_the_entry_follows_the_schema_of_the_registry() -> None:
    """The schema is the published one of the version that the entry names."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert schema["$id"] == ENTRY["$schema"]
    checker = Draft7Validator.FORMAT_CHECKER
    assert list(Draft7Validator(schema, format_checker=checker).iter_errors(ENTRY)) == []


def test_the_readme_proves_that_the_package_belongs_to_the_entry() -> None:
    """The registry looks for the name in the README of the package; it may be in a comment."""
    assert f"mcp-name: {ENTRY['name']} " in (REPOSITORY / "README.md").read_text("utf-8")


def test_the_entry_is_of_this_version() -> None:
    """A release that forgets it would offer the one before."""
    (package,) = ENTRY["packages"]
    assert ENTRY["version"] == package["version"] == VERSION
    assert package["identifier"] == PROJECT["name"]


def test_the_entry_adds_the_requirements_of_the_extra() -> None:
    """Clients run `uvx`, these arguments and `skilldrop@VERSION`, which cannot name an extra."""
    (package,) = ENTRY["packages"]
    added = [(each["name"], each["value"]) for each in package["runtimeArguments"]]
    assert added == [("--with", each) for each in PROJECT["optional-dependencies"]["mcp"]]


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

"""Lists over the protocol: whole page by page, with one clear sentence for a wrong cursor."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.types import PaginatedRequestParams, Request, Result
from pydantic import ConfigDict

from tests.support.mcp_servers import in_process, over_http, over_stdio, session
from tests.support.shelf import Shelf
from tests.support.skills import write_skill

NAMES = [f"skill-{number:03}" for number in range(120)]
METHODS = {
    "resources/list": "resources",
    "prompts/list": "prompts",
    "skills/list": "skills",
    "tools/list": "tools",
    "resources/templates/list": "resourceTemplates",
}


class Listed(Result):
    """A page of any list."""

    model_config = ConfigDict(extra="allow")


class ListRequest(Request[PaginatedRequestParams, str]):
    """A request for a page of any list."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return a shelf with more skills than a page."""
    made = Shelf(tmp_path_factory.mktemp("lists"))
    for name in NAMES:
        write_skill(made.root / name)
    made.scan()
    yield made
    made.close()


async def page(client: Client, method: str, cursor: str | None = None) -> dict[str, Any]:
    """Return one page of a list as it came."""
    request = ListRequest(method=method, params=PaginatedRequestParams(cursor=cursor))
    result = await client.session.send_request(request, Listed)
    return result.model_dump(by_alias=True)


async def whole(client: Client, method: str) -> list[list[Any]]:
    """Return all pages of a list."""
    pages: list[list[Any]] = []
    cursor = None
    while not pages or cursor:
        result = await page(client, method, cursor)
        pages.append(result[METHODS[method]])
        cursor = result.get("nextCursor")
    return pages


async def all_lists(client: Client) -> dict[str, list[list[Any]]]:
    """Return all pages of all lists."""
    return {method: await whole(client, method) for method in METHODS}


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_every_list_is_whole(shelf: Shelf, transport: str) -> None:
    """Each of 120 skills is on one page, over both transports and for clients of before 2026."""
    if transport == "http":
        with over_http(shelf) as url:
            lists = session(url, all_lists)
            assert session(url, all_lists, mode="legacy") == lists
    else:
        lists = session(over_stdio(shelf), all_lists)
    for method in ("resources/list", "prompts/list", "skills/list"):
        assert [len(entries) for entries in lists[method]] == [100, 20]
    uris = [f"skill://{name}/SKILL.md" for name in NAMES]
    for method in ("resources/list", "skills/list"):
        assert [entry["uri"] for entries in lists[method] for entry in entries] == uris
    prompts = [prompt["name"] for prompts in lists["prompts/list"] for prompt in prompts]
    assert prompts == NAMES
    assert [len(lists[m]) for m in ("tools/list", "resources/templates/list")] == [1, 1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "cursor", ["", "x", "skills-", "resources-1x", "prompts--1", "tools-1", "9"]
)
def test_a_wrong_cursor_is_an_error(shelf: Shelf, method: str, cursor: str) -> None:
    """The message is one sentence that says how to go on."""

    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await page(client, method, cursor)
        return caught.value

    error = session(in_process(shelf), work)
    assert error.error.code == -32602
    assert error.error.message.endswith("; list again without a cursor.")


def test_a_cursor_of_another_list_or_of_no_skill_is_an_error(shelf: Shelf) -> None:
    """A cursor goes on only where it was given."""

    async def work(client: Client) -> list[int]:
        cursor = (await page(client, "resources/list"))["nextCursor"]
        codes = []
        for method, wrong in (
            ("prompts/list", cursor),
            ("skills/list", cursor),
            ("resources/list", "resources-999999"),
        ):
            with pytest.raises(MCPError) as caught:
                await page(client, method, wrong)
            codes.append(caught.value.error.code)
        return codes

    assert session(in_process(shelf), work) == [-32602] * 3


def test_a_skill_that_stays_is_never_left_out(shelf: Shelf) -> None:
    """Skills that come or go between two pages move no other from one page to the other."""
    for name in ("aaa", "skill-000-a"):
        write_skill(shelf.root / name)

    async def work(client: Client) -> list[str]:
        first = await page(client, "resources/list")
        shelf.scan()
        second = await page(client, "resources/list", first["nextCursor"])
        return [entry["name"] for entry in first["resources"] + second["resources"]]

    assert session(in_process(shelf), work) == NAMES


def test_the_extension_is_declared_to_clients_of_all_versions(shelf: Shelf) -> None:
    """A client may ask for skills only after that."""

    async def work(client: Client) -> Any:
        return client.server_capabilities

    client = [advertise("io.modelcontextprotocol/skills", {})]
    for mode in ("auto", "legacy"):
        declared = session(in_process(shelf), work, mode=mode, extensions=client)
        assert declared.extensions == {"io.modelcontextprotocol/skills": {}}
        assert not declared.resources.subscribe
        assert not declared.resources.list_changed
        assert not declared.prompts.list_changed


def test_structured_results_match_their_schemas(shelf: Shelf) -> None:
    """Each tool that gives an object says what is in it; the client checks it."""

    async def work(client: Client) -> list[Any]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return [
            (tools[name].output_schema, (await client.call_tool(name, arguments)))
            for name, arguments in (
                ("search_skills", {"query": "count wrod"}),
                ("search_skills", {"query": "nothing"}),
                ("search_skills", {"limit": 2}),
                ("search_skills", {"offset": 5000}),
            )
        ]

    for schema, result in session(in_process(shelf), work):
        assert schema["required"]
        assert set(schema["required"]) <= result.structured_content.keys()
        assert result.structured_content.keys() <= schema["properties"].keys()

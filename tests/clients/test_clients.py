"""Real clients have every valid skill with equal bytes, also after an edit."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.clients.agents import ClaudeCode, OpencodeToken
from tests.clients.client import Client
from tests.clients.installed import Absent
from tests.clients.installers import (
    Curl,
    FastMcp,
    FastMcpToken,
    SkillkitToken,
    VercelSite,
    VercelToken,
)
from tests.clients.mcp_agents import MCP_AGENTS, McpAgent
from tests.clients.packages import Files
from tests.clients.running import EDITED, Running
from tests.clients.searching import SEARCHING, Searching
from tests.clients.table import Result, Results


def compared(client: Client) -> tuple[str, dict[str, list[str]]]:
    """Return "equal of all", and the differences from the skills in the roots.

    A skill counts by its bytes alone, as clients name skills in several ways. `strange` are the
    client's skills that are no valid skill as it is now: changed, superseded, rejected, shadowed.
    """
    expected = client.running.skills()
    keys = {_frozen(client.as_kept(files)): key for key, files in expected.items()}
    had = {name: keys.get(_frozen(files)) for name, files in client.skills().items()}
    equal = {key for key in had.values() if key}
    differences = {
        "missing": sorted(expected.keys() - equal),
        "strange": sorted(name for name, key in had.items() if not key),
    }
    return f"{len(equal)} of {len(expected)}", differences


def _frozen(files: Files) -> frozenset[object]:
    return frozenset(files.items())


def allowed(client: Client) -> dict[str, list[str]]:
    """Return the differences that the client's own rules make."""
    return {"missing": sorted(client.missing), "strange": list(client.spoiled)}


def test_a_client_has_every_valid_skill_with_equal_bytes(client: Client, results: Results) -> None:
    """All valid skills and nothing else, except what the client's own rules exclude."""
    count, differences = compared(client)
    results[type(client)] = Result(count)
    assert differences == allowed(client)


def test_a_client_has_the_new_bytes_after_an_edit(client: Client, results: Results) -> None:
    """Changed, added and deleted files arrive, and no superseded version is left."""
    client.running.edit()
    client.update()
    count, differences = compared(client)
    results.setdefault(type(client), Result()).edited = count
    assert differences == allowed(client)


@pytest.mark.parametrize("kind", [FastMcp, FastMcpToken])
def test_fastmcp_names_folders_as_the_skills_are_named(
    start: Callable[[type[Client]], Client], kind: type[Client]
) -> None:
    """Also in other scripts than Latin."""
    client = start(kind)
    assert client.skills().keys() == client.running.skills().keys()


@pytest.mark.parametrize("kind", [VercelToken, SkillkitToken, OpencodeToken, Curl, FastMcpToken])
def test_a_client_has_nothing_without_the_token(
    guarded: Running, tmp_path: Path, kind: type[Client]
) -> None:
    """The same client, with the address alone."""
    try:
        client = kind(guarded, tmp_path / "home")
        client.site, client.token = guarded.origin, ""
        with suppress(AssertionError):
            client.install()
    except Absent as reason:
        pytest.skip(str(reason))
    assert client.skills() == {}


@pytest.mark.parametrize("kind", MCP_AGENTS)
def test_an_agent_connects_to_the_mcp_server_with_a_token(
    guarded: Running, tmp_path: Path, kind: type[McpAgent]
) -> None:
    """As its `mcp add` is told; with another token it does not."""
    try:
        agent = kind(guarded, tmp_path / "home")
        other = kind(guarded, tmp_path / "other")
    except Absent as reason:
        pytest.skip(str(reason))
    assert agent.connects(guarded.mcp, guarded.token)
    assert not other.connects(guarded.mcp, "skilldrop_wrong")


@pytest.mark.parametrize("folder", ["packages", ""], ids=["packages", "data"])
@pytest.mark.parametrize("kind", SEARCHING)
def test_a_search_of_the_data_directory_finds_no_superseded_version(
    running: Running, tmp_path: Path, kind: type[Searching], folder: str
) -> None:
    """Every SKILL.md that a client finds there is one as it is now."""
    running.edit()
    try:
        client = kind(running, tmp_path / "home")
    except Absent as reason:
        pytest.skip(str(reason))
    client.search(running.data / folder)
    current = {files["SKILL.md"] for files in running.skills().values()}
    found = {files["SKILL.md"] for files in client.skills().values()}
    assert found
    assert found <= current


def test_claude_code_loads_the_text_of_a_skill_as_it_is_now(
    start: Callable[[type[Client]], Client], running: Running
) -> None:
    """The request to the model holds the last line of SKILL.md."""
    client = start(ClaudeCode)
    assert isinstance(client, ClaudeCode)
    running.edit()
    last = (running.roots / "project" / EDITED[0] / "SKILL.md").read_text().splitlines()[-1]
    assert last in client.loaded(EDITED[0])


@pytest.mark.parametrize("key", ["executable", "数据清洗", "office--pdf"])
def test_vercel_skills_installs_one_skill_by_its_address(
    running: Running, tmp_path: Path, key: str
) -> None:
    """The address of a skill's page gives this skill alone."""
    try:
        client = VercelSite(running, tmp_path / "home")
    except Absent as reason:
        pytest.skip(str(reason))
    client.add(f"{running.site}/skills/{quote(key)}")
    assert list(client.skills().values()) == [client.as_kept(running.skills()[key])]

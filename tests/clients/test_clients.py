"""Real clients have every valid skill with equal bytes, also after an edit."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.clients.agents import ClaudeCode, OpencodeToken
from tests.clients.client import Client
from tests.clients.clients import CLIENTS, READERS
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
from tests.clients.running import EDITED, Running, Scanned
from tests.clients.sources import LINK, NO_LINKS, FolderClient, from_each
from tests.clients.table import AllMeasured, Count, Measured, Result, Results, reasons


def compared(client: Client) -> tuple[Count, dict[str, list[str]]]:
    """Return how many skills a client has, and the differences from the skills in the catalog.

    A skill counts by its bytes and their paths alone, as clients name skills in several ways.
    `strange` are the client's skills that are no valid skill as it is now: changed, superseded,
    rejected, shadowed.
    """
    expected = client.catalog.skills()
    keys = {_frozen(client.as_kept(files)): key for key, files in expected.items()}
    had = {name: keys.get(_frozen(files)) for name, files in client.skills().items()}
    equal = {key for key in had.values() if key}
    differences = {
        "missing": sorted(expected.keys() - equal),
        "strange": sorted(name for name, key in had.items() if not key),
    }
    return Count(len(had), len(equal), len(expected)), differences


def _frozen(files: Files) -> frozenset[object]:
    return frozenset(files.items())


def allowed(client: Client) -> dict[str, list[str]]:
    """Return the differences that the client's own rules make."""
    refused = client.refused()
    strange = [key for key in client.spoiled if key in refused and refused[key] != NO_LINKS]
    return {"missing": sorted(refused), "strange": sorted(strange)}


def test_a_client_has_every_valid_skill_with_equal_bytes(client: Client, results: Results) -> None:
    """All valid skills and nothing else, except what the client's own rules exclude."""
    count, differences = compared(client)
    results[type(client)] = Result(count, refused=dict(client.refused()))
    assert differences == allowed(client)


def test_a_client_has_the_new_bytes_after_an_edit(client: Client, results: Results) -> None:
    """Changed, added and deleted files arrive, and no superseded version is left."""
    client.running.edit()
    client.update()
    count, differences = compared(client)
    results.setdefault(type(client), Result()).edited = count
    assert differences == allowed(client)


def test_the_installed_clients_are_the_pinned_ones() -> None:
    """An older Node would get older versions of some, and say nothing."""
    try:
        found = {kind: kind.installed_version() for kind in CLIENTS if kind.package}
    except Absent as reason:
        pytest.skip(str(reason))
    assert found == {kind: kind.version() for kind in found}


@pytest.mark.parametrize("kind", READERS)
def test_a_client_has_the_same_real_skills_from_each_source(
    real: Scanned, tmp_path: Path, kind: type[FolderClient], measured: AllMeasured
) -> None:
    """With equal bytes; only line ends of texts may differ."""
    try:
        client = kind(real, tmp_path / "home")
        client.install()
    except Absent as reason:
        pytest.skip(str(reason))
    count, differences = compared(client)
    refused = set(differences["missing"]) - set(differences["strange"])
    measured[kind] = Measured(count, reasons(refused, client.messages))
    assert not [name for name in differences["strange"] if not _has_cr(client.given / name)]
    if client.finds_nothing:
        assert count.loaded == 0
    else:
        same = [each for each in measured if each.title == kind.title and each.source is not LINK]
        assert {measured[each].count for each in same} <= {count}


def _has_cr(folder: Path) -> bool:
    return any(b"\r" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


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


def test_claude_code_loads_the_text_of_a_skill_as_it_is_now(
    start: Callable[[type[Client]], Client], running: Running
) -> None:
    """The request to the model holds the last line of SKILL.md."""
    (kind,) = from_each(ClaudeCode, (LINK,))
    client = start(kind)
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

"""Notifications: a client learns of changes soon after the catalog has them."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated

from catalog.mcp.changes import CatalogWatch, Changes
from tests.support.mcp_servers import Server, over_http, over_stdio, session
from tests.support.shelf import Shelf
from tests.support.skills import write_skill
from tests.support.waiting import PATIENCE

FOLLOWED = "skill://edited/SKILL.md"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return a scanned shelf with two skills."""
    made = Shelf(tmp_path)
    for name in ("edited", "stays"):
        write_skill(made.root / name)
    made.scan()
    return made


def edit(shelf: Shelf) -> None:
    """Change one skill and publish it."""
    write_skill(shelf.root / "edited", body="# Edited\n")
    shelf.scan()


def of_stream(server: Server, shelf: Shelf) -> list[str]:
    """Return the events on a client's stream up to the update of the edited skill."""

    async def work(client: Client) -> list[str]:
        events = []
        async with client.listen(
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[FOLLOWED, "skill://stays/SKILL.md"],
        ) as stream:
            await asyncio.to_thread(edit, shelf)
            async for event in stream:
                events.append(type(event).__name__)
                if isinstance(event, ResourceUpdated):
                    assert event.uri == FOLLOWED
                    break
        content = (await client.read_resource(FOLLOWED)).contents[0]
        assert "# Edited" in content.text  # type: ignore[union-attr]
        return events

    events: list[str] = session(server, work)
    return events


EVENTS = ["ResourcesListChanged", "PromptsListChanged", "ResourceUpdated"]


def test_a_client_that_listens_over_stdio_is_told(shelf: Shelf) -> None:
    """After that it reads the new version."""
    assert of_stream(over_stdio(shelf), shelf) == EVENTS


def test_a_client_that_listens_over_http_is_told(shelf: Shelf) -> None:
    """The stream begins with the first change after it was opened."""
    with over_http(shelf) as url:
        assert of_stream(url, shelf) == EVENTS


def test_an_open_stream_does_not_keep_a_server_from_stopping(shelf: Shelf) -> None:
    """The server ends the stream; the client learns that nothing went wrong."""
    running = over_http(shelf)

    async def work(client: Client) -> list[Any]:
        async with client.listen(resources_list_changed=True) as stream:
            await asyncio.to_thread(running.__exit__, None, None, None)
            return [event async for event in stream]

    assert session(running.__enter__(), work) == []


def test_an_older_client_over_stdio_is_told(shelf: Shelf) -> None:
    """It hears which lists have changed."""
    messages: list[str] = []
    has_come = asyncio.Event()

    async def note(message: Any) -> None:
        messages.append(type(message).__name__)
        if len(messages) == 2:
            has_come.set()

    async def work(client: Client) -> None:
        await client.list_resources()
        await asyncio.to_thread(edit, shelf)
        await asyncio.wait_for(has_come.wait(), PATIENCE)

    session(over_stdio(shelf), work, mode="legacy", message_handler=note)
    assert messages == ["ResourceListChangedNotification", "PromptListChangedNotification"]


def test_only_changes_are_told(shelf: Shelf) -> None:
    """Neither the first look, nor a commit that changes no skill."""
    watch = CatalogWatch(shelf.settings.catalog_path)
    assert watch.look() == watch.look() == Changes()
    shelf.scan()
    assert watch.look() == Changes()
    edit(shelf)
    changes = watch.look()
    assert [type(event).__name__ for event in changes.lists] == EVENTS[:2]
    assert changes.skill_ids == {"edited"}
    watch.close()


def test_a_skill_for_models_alone_changes_no_prompt(shelf: Shelf) -> None:
    """Clients fetch only the list that changed."""
    watch = CatalogWatch(shelf.settings.catalog_path)
    watch.look()
    write_skill(shelf.root / "new", more="user-invocable: false")
    shelf.scan()
    changes = watch.look()
    assert [type(event).__name__ for event in changes.lists] == EVENTS[:1]
    watch.close()


def test_a_catalog_that_comes_goes_or_is_replaced_is_a_change(tmp_path: Path, shelf: Shelf) -> None:
    """The watch follows the file's name, not the file that it once opened."""
    other = Shelf(tmp_path / "other")
    write_skill(other.root / "another")
    other.scan()
    path, aside = tmp_path / "watched.db", shelf.settings.catalog_path
    watch = CatalogWatch(path)
    assert watch.look() == Changes()
    os.link(aside, path)
    assert watch.look().skill_ids == {"edited", "stays"}
    path.unlink()
    assert watch.look().skill_ids == {"edited", "stays"}
    os.link(other.settings.catalog_path, path)
    assert watch.look().skill_ids == {"another"}
    os.link(aside, tmp_path / "beside.db")
    (tmp_path / "beside.db").replace(path)
    assert watch.look().skill_ids == {"another", "edited", "stays"}
    watch.close()

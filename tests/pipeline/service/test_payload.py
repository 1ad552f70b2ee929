"""Memories as hooks are told of them: each suggestion once, in order, with its outcome."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from catalog.writing.store import Store
from docs_from_code.outcome_schemas import json_schema
from pipeline.config.hook import Hook
from pipeline.outcomes.collect import take_outcomes
from pipeline.service import listeners
from pipeline.service.listeners import HookQueue
from tests.pipeline.outcomes.test_collect import LATER, drop, folder, store, take
from tests.support.receivers import Received, receiver
from tests.support.serving import Serving
from tests.support.waiting import PATIENCE

__all__ = ["folder", "store"]

ANNA = {"ownerType": "user", "ownerId": "anna", "type": "fact", "importance": 2}
HOME = {"ownerType": "household", "ownerId": "h7", "type": "event", "importance": 1}
FREE = {"type": "fact", "importance": 1}


class Told:
    """Catalog with a hook for memories, and its receiver."""

    def __init__(self, store: Store, received: Received, tmp_path: Path, **hook: Any) -> None:
        self.store = store
        self.received = received
        self.settings = Serving(
            tmp_path / "told",
            hooks=(Hook(**{"name": "m", "on": ["memory"], "url": received.url} | hook),),
        ).settings
        self.register()

    def register(self) -> None:
        """Register the hook, as a start does."""
        self.store.events.register([hook.listener for hook in self.settings.hooks])

    def deliver(self) -> list[str]:
        """Deliver once; return the failures."""
        failures = []
        for hook in self.settings.hooks:
            queue = HookQueue(hook, lambda: None)
            queue.step(self.store)
            while queue.is_sending:
                queue.finish(self.store, PATIENCE)
                queue.step(self.store)
            failures += [queue.problem.message] if queue.problem else []
        return failures

    @property
    def events(self) -> list[dict[str, Any]]:
        """The received events."""
        return [event for _, body in self.received for event in json.loads(body)["events"]]

    @property
    def contents(self) -> list[str]:
        """The received memories."""
        return [event["memory_write"]["content"] for event in self.events]


@pytest.fixture
def received() -> Iterator[Received]:
    """Serve a receiver."""
    with receiver() as it:
        yield it


@pytest.fixture
def told(store: Store, received: Received, tmp_path: Path) -> Told:
    """Return a catalog with a hook for all memories."""
    return Told(store, received, tmp_path)


def suggest(folder: Path, *contents: str, run: str = "run-1", **owner: Any) -> None:
    """Write an outcome that suggests memories."""
    writes = [{**(owner or ANNA), "content": content} for content in contents]
    drop(folder, run, memoryWrites=writes)


def suggest_in_envelope(folder: Path, content: str) -> None:
    """Write an ABP envelope that suggests a memory, which has no owner there."""
    result = {"output": 1, "memoryWrites": [{**FREE, "content": content}]}
    text = json.dumps({"id": "c", "tool": "t", "result": result})
    (folder / "call.json").write_text(text, "utf-8")


@pytest.mark.requirement("apexbridge/memory-fields", "apexbridge/memory-handed-on")
def test_a_memory_comes_with_the_identity_of_its_outcome(
    told: Told, store: Store, folder: Path
) -> None:
    """It has the form of the published schema, and an identifier that never changes."""
    writes = [{**ANNA, "content": "Tea.", "metadata": {"page": 3}}, {**HOME, "content": "Late."}]
    drop(folder, memoryWrites=writes)
    take(store, folder)
    assert told.deliver() == []
    first, second = told.events
    Draft202012Validator(json_schema("memory-write")).validate(first["memory_write"])
    assert first["memory_write"] == writes[0]
    assert second["memory_write"]["ownerType"] == "household"
    outcome = {
        "path": "meetings/run-1.json",
        "run_id": "run-1",
        "revision": 1,
        "skill_id": "meetings",
        "version": "20261120-120000",
    }
    assert first["outcome"] == outcome | {"position": 1}
    assert second["outcome"] == outcome | {"position": 2}
    assert len({first["id"], second["id"]}) == 2


def test_a_memory_of_an_envelope_comes_without_an_owner(
    told: Told, store: Store, folder: Path
) -> None:
    """Its importance has the scale of the others."""
    suggest_in_envelope(folder, "Late.")
    take(store, folder)
    assert told.deliver() == []
    (event,) = told.events
    assert event["memory_write"]["ownerType"] is None
    assert event["memory_write"]["importance"] == 5


@pytest.mark.requirement("apexbridge/memory-handed-on")
def test_each_suggestion_is_told_once_in_order(told: Told, store: Store, folder: Path) -> None:
    """Neither another delivery, nor a look at the same files, nor a restart repeats one."""
    suggest(folder, "a", "b", "b")
    take(store, folder)
    told.deliver()
    suggest(folder, "c", run="run-2")
    take(store, folder)
    told.register()
    told.deliver()
    told.deliver()
    assert told.contents == ["a", "b", "c"]


def test_a_revision_tells_only_the_memories_that_are_new(
    told: Told, store: Store, folder: Path
) -> None:
    """A run that reports while it runs repeats its memories."""
    suggest(folder, "a")
    take(store, folder)
    told.deliver()
    suggest(folder, "a", "b")
    take(store, folder)
    told.deliver()
    assert told.contents == ["a", "b"]
    assert told.events[1]["outcome"]["revision"] == 2


def test_what_was_not_acknowledged_is_told_again_with_its_identifier(
    told: Told, store: Store, folder: Path, received: Received
) -> None:
    """And nothing that follows comes before it."""
    suggest(folder, "a")
    take(store, folder)
    received.answers = [500]
    assert told.deliver() == ["The hook m did not get memories: its server answered 500."]
    suggest(folder, "b", run="run-2")
    take(store, folder)
    assert told.deliver() == []
    assert told.contents == ["a", "b"]


def test_many_memories_come_in_portions(
    told: Told, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An acknowledged portion is not repeated when the next one fails."""
    monkeypatch.setattr(listeners, "BATCH", 2)
    suggest(folder, *"abcde")
    take(store, folder)
    told.received.answers = [204, 500]
    assert told.deliver()
    told.deliver()
    assert told.contents == list("abcde")
    assert len(told.received) == 3


def test_memories_of_all_owners_are_told(told: Told, store: Store, folder: Path) -> None:
    """Also those without one."""
    for name, of in (("anna", ANNA), ("home", HOME)):
        suggest(folder, name, run=name, **of)
        take(store, folder)
    suggest_in_envelope(folder, "free")
    take(store, folder)
    told.deliver()
    assert told.contents == ["anna", "home", "free"]


def test_a_new_hook_is_told_from_then_on(told: Told, store: Store, folder: Path) -> None:
    """As it is with changes."""
    suggest(folder, "before")
    store.events.register([])
    take(store, folder)
    told.register()
    suggest(folder, "after", run="run-2")
    take(store, folder)
    told.deliver()
    assert told.contents == ["after"]


def test_a_hook_for_changes_is_not_told_of_memories(
    store: Store, folder: Path, received: Received, tmp_path: Path
) -> None:
    """And neither kind disturbs the other."""
    told = Told(store, received, tmp_path, on=["published"])
    suggest(folder, *"abc")  # more than there are changes
    take_outcomes(store, folder, quiet=1, now_ns=time.time_ns() + LATER)
    told.deliver()
    assert received == []


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ({"on": ["memory", "published"]}, "give memories their own hook"),
    ],
)
def test_a_hook_is_for_memories_or_for_changes(hook: dict[str, Any], message: str) -> None:
    """They come from different tables, each in its own order."""
    with pytest.raises(ValueError, match=message):
        Hook(name="m", url="http://127.0.0.1", **hook)

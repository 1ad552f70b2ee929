"""Payload of a hook: the changes or memories that it asked for, as JSON."""

import json
from collections.abc import Iterator, Sequence

from catalog.model.change import Event, MemoryEvent
from catalog.writing.events import Events
from pipeline.hooks.hook import Hook

BATCH = 100
"""Most events in one delivery."""


def pending(hook: Hook, events: Events) -> Sequence[Event] | Sequence[MemoryEvent]:
    """Return the oldest events that a hook was not told of, in order."""
    if hook.takes_memories:
        return events.pending_memories(hook.listener, BATCH)
    return events.pending(hook.listener, BATCH)


def payload(hook: Hook, events: Sequence[Event] | Sequence[MemoryEvent]) -> bytes | None:
    """Return the body for some events; None if the hook asked for none of them."""
    chosen = [_as_json(event) for event in events if _asked_for(hook, event)]
    if not chosen:
        return None
    return json.dumps({"hook": hook.name, "events": chosen}, ensure_ascii=False).encode()


def delivery_id(events: Sequence[Event] | Sequence[MemoryEvent]) -> str:
    """Return an id, which a repeated delivery of the same events shares."""
    return f"{events[0].id}-{events[-1].id}"


def kinds(event: Event) -> Iterator[str]:
    """Yield the kinds that a change has."""
    yield event.outcome
    if event.is_published:
        yield "published"
    if event.is_conflict:
        yield "conflict"


def _asked_for(hook: Hook, event: Event | MemoryEvent) -> bool:
    if isinstance(event, Event):
        return bool(set(hook.on) & set(kinds(event)))
    return hook.owner in (None, event.owner_type, f"{event.owner_type}:{event.owner_id}")


def _as_json(event: Event | MemoryEvent) -> dict[str, object]:
    if isinstance(event, MemoryEvent):
        return _memory_as_json(event)
    fields = event._asdict()
    return {key: bool(value) if key.startswith("is_") else value for key, value in fields.items()}


def _memory_as_json(event: MemoryEvent) -> dict[str, object]:
    """Return a memory in the form of the published schema, and the outcome that suggests it."""
    return {
        "id": event.suggestion,
        "at": event.at,
        "memory_write": {
            "ownerType": event.owner_type,
            "ownerId": event.owner_id,
            "type": event.type,
            "importance": event.importance,
            "content": event.content,
            "metadata": json.loads(event.metadata),
        },
        "outcome": {
            "path": event.path,
            "line": event.line,
            "run_id": event.run_id,
            "revision": event.revision,
            "skill_id": event.skill_id,
            "version": event.version,
            "position": event.position,
        },
    }

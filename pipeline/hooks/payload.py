"""Payload of a hook: the changes that it asked for, as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, get_args

from catalog.model.values import IngestionOutcome
from catalog.writing.events import Event
from pipeline.hooks.hook import Hook

Kind: TypeAlias = IngestionOutcome | Literal["published", "conflict"]
KINDS: tuple[str, ...] = ("published", "conflict", *(
    outcome for union in get_args(IngestionOutcome) for outcome in (get_args(union) or [union])
))  # fmt: skip
"""Kinds of events: the outcomes of ingestions, and two that several of them can have."""


def payload(hook: Hook, events: Sequence[Event]) -> bytes | None:
    """Return the body for some events; None if the hook asked for none of them."""
    chosen = [event for event in events if hook.on & set(kinds(event))]
    if not chosen:
        return None
    return json.dumps(
        {"hook": hook.name, "events": [_as_json(event) for event in chosen]}, ensure_ascii=False
    ).encode()


def delivery_id(events: Sequence[Event]) -> str:
    """Return an id that a repeated delivery of the same events has, too."""
    return f"{events[0].id}-{events[-1].id}"


def kinds(event: Event) -> Iterator[str]:
    """Yield the kinds that an event has."""
    yield event.outcome
    if event.is_published:
        yield "published"
    if event.is_conflict:
        yield "conflict"


def _as_json(event: Event) -> dict[str, object]:
    fields = event._asdict()
    return {key: bool(value) if key.startswith("is_") else value for key, value in fields.items()}

"""Listeners to the changes of skills: the log, and the hooks, with repeated deliveries."""

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from typing import TypeAlias

from catalog.model.change import Event, MemoryEvent
from catalog.model.errors import HookFailed, HookRefused, Problem
from catalog.text import humanize
from catalog.text.visible import visible
from catalog.writing.events import Events
from catalog.writing.store import Store
from pipeline.config.hook import Hook
from pipeline.outcomes.collect import OutcomeReport
from pipeline.service import chats

log = logging.getLogger("skilldrop")

BATCH = 100
"""Most events in one delivery."""
FIRST_PAUSE = 2.0
"""Seconds until the first retry; the pause doubles after each failure …"""
LONGEST_PAUSE = 600.0
"""… up to this limit."""
GRACE = 5.0
"""Seconds for which the end of the service waits for the deliveries that are on their way."""

_Events: TypeAlias = Sequence[Event] | Sequence[MemoryEvent]


class HookQueue:
    """Delivery of the events of one hook; `step` is for the thread of the loop."""

    def __init__(self, hook: Hook, wake: Callable[[], None], site: str = "") -> None:
        """Take a hook, a function for any thread that wakes the loop, and the URL of the site."""
        self.hook, self._site = hook, site
        self._wake = wake
        self._sending: tuple[_Events, Future[HookFailed | None]] | None = None
        self._failures = 0
        self.problem: Problem | None = None
        """Failure of the last delivery, which is repeated."""

    @property
    def is_sending(self) -> bool:
        """Whether a delivery is on its way."""
        return self._sending is not None

    def step(self, store: Store) -> Problem | None:
        """Store the end of a delivery and begin the next; return the problem of the last one."""
        self.finish(store, 0.0)
        next_try = self.problem.next_try if self.problem else None
        if not self._sending and (next_try or 0.0) <= time.monotonic():
            self._begin(store)
        return self.problem

    def _begin(self, store: Store) -> None:
        while events := self._pending(store.events):
            if body := _body(self.hook, events, store.events, self._site):
                failure: Future[HookFailed | None] = Future()
                self._sending = events, failure
                threading.Thread(
                    target=self._send,
                    # A repeated delivery of the same events has the same id.
                    args=(body, f"{events[0].id}-{events[-1].id}", failure),
                    name=self.hook.listener,
                    daemon=True,
                ).start()
                return
            store.events.delivered(self.hook.listener, events)

    def _pending(self, events: Events) -> _Events:
        """Return the oldest events that the hook did not get, in order."""
        if self.hook.takes_memories:
            return events.pending_memories(self.hook.listener, BATCH)
        return events.pending(self.hook.listener, BATCH)

    def _send(self, body: bytes, delivery: str, failure: Future[HookFailed | None]) -> None:
        """Deliver a body in its own thread."""
        reason: HookFailed | None = HookFailed(f"The hook {self.hook.name} failed unexpectedly.")
        try:
            self.hook.send(body, delivery)
            reason = None
        except HookFailed as error:
            reason = error
        finally:
            failure.set_result(reason)
            self._wake()

    def finish(self, store: Store, seconds: float) -> None:
        """Store the end of the delivery on its way, if it ends within some seconds."""
        if not self._sending:
            return
        events, failure = self._sending
        if not wait([failure], seconds).done:
            return
        self._sending = None
        reason = failure.result()
        if reason is None or isinstance(reason, HookRefused):
            store.events.delivered(self.hook.listener, events)
            self._failures, self.problem = 0, Problem(str(reason), 1) if reason else None
            return
        pause = min(FIRST_PAUSE * 2 ** min(self._failures, 16), LONGEST_PAUSE)
        self._failures += 1
        self.problem = Problem(str(reason), self._failures, time.monotonic() + pause)


def stop_all(queues: Iterable[HookQueue], store: Store) -> None:
    """Wait for the deliveries that are on their way, GRACE seconds at most for all."""
    latest = time.monotonic() + GRACE
    for queue in queues:
        queue.finish(store, max(0.0, latest - time.monotonic()))


def _body(hook: Hook, events: _Events, of: Events, site: str = "") -> bytes | None:
    """Return the body with some events; None if the hook asked for none of them."""
    asked = [e for e in events if isinstance(e, MemoryEvent) or _asked_for(hook, e)]
    if not asked:
        return None
    found = {} if hook.takes_memories else of.findings([event.id for event in asked])
    chosen = [_as_json(event) | ({"findings": found[event.id]} if found else {}) for event in asked]
    body: object = {"hook": hook.name, "events": chosen}
    if hook.format != "json":
        body = chats.message(hook.format, chosen, site)
    return json.dumps(body, ensure_ascii=False).encode()


def _asked_for(hook: Hook, event: Event) -> bool:
    if hook.sources and event.source not in hook.sources:
        return False
    has = {"danger": event.dangers, "published": event.is_published, "conflict": event.is_conflict}
    return event.outcome in hook.on or any(has[kind] for kind in has.keys() & {*hook.on})


def _as_json(event: Event | MemoryEvent) -> dict[str, object]:
    if isinstance(event, MemoryEvent):
        return _memory_as_json(event)
    fields = event._asdict() | {"dangers": event.dangers.split(", ") if event.dangers else []}
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
            "run_id": event.run_id,
            "revision": event.revision,
            "skill_id": event.skill_id,
            "version": event.version,
            "position": event.position,
        },
    }


def log_changes(events: Sequence[Event]) -> None:
    """Log events, one line each; held removals are counted."""
    for event in events:
        if event.outcome == "held":
            continue
        dangers = f"danger: {event.dangers}" if event.dangers else None
        notes = "; ".join(filter(None, (dangers, event.detail)))
        detail = f" ({notes})" if notes else ""
        if event.outcome == "withheld":
            detail += "; `skilldrop status` says what you can do"
        if event.is_conflict:
            detail += "; rename one of them, or choose with `skilldrop prefer PATH`"
        log.log(
            logging.WARNING
            if dangers or event.outcome == "withheld" or event.is_conflict
            else logging.INFO,
            "%s %s",
            event.outcome,
            visible(f"{event.path}{detail}"),
        )
    held = Counter((event.root, event.detail) for event in events if event.outcome == "held")
    for (root, reason), skills in held.items():
        log.warning(
            "%s: %s; the removal of %s is held until the folders are back or `skilldrop reconcile"
            " --accept-removals` confirms it",
            root,
            reason,
            humanize.count(skills, "skill"),
        )


def log_outcomes(report: OutcomeReport) -> None:
    """Log the outcomes that were stored or rejected."""
    for path in report.stored:
        log.info("outcome %s stored", visible(path))
    for path in report.unlinked:
        log.warning(
            "outcome %s: the catalog does not have the skill or the version, or none is named",
            visible(path),
        )
    if report.linked:
        log.info("%s linked to new skills", humanize.count(report.linked, "earlier outcome"))
    for path, reason in report.rejected.items():
        log.warning("outcome %s rejected: %s", visible(path), visible(reason))

"""Journal of the decisions of people: pins, reviews, preferences and accepted removals.

It is a file beside the catalog, a JSON object a line, only added to. A catalog that was lost, that
is damaged or that has the schema of another release takes its decisions from there.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from catalog.database.sql import to_json
from catalog.model.values import Json
from catalog.text.times import iso

NAME = "decisions.jsonl"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

Place: TypeAlias = tuple[str, str]
"""Root and path of a skill folder."""


class Pin(NamedTuple):
    """Version at which a skill is pinned."""

    skill_id: str
    version: str
    digest: str


class Review(NamedTuple):
    """Decision of a reviewer on a content."""

    digest: str
    decision: str
    decided_by: str
    decided_at: str  # ISO 8601, UTC
    why: str | None
    version: str


@dataclass(slots=True)
class Decisions:
    """Decisions in force, and all reviews in their order."""

    pins: dict[Place, Pin] = field(default_factory=dict)
    preferences: dict[Place, str] = field(default_factory=dict)  # times, ISO 8601
    reviews: list[Review] = field(default_factory=list)


class Journal:
    """The journal of one catalog."""

    def __init__(self, path: Path) -> None:
        """Take the path of the file, which the first decision creates."""
        self._path = path

    def update(self, decided: Decisions, at: datetime) -> None:
        """Add what differs between the journal and the decisions of a catalog. Raises OSError."""
        self._add([entry | {"at": iso(at)} for entry in _differences(self.decisions(), decided)])

    def note_accepted_removals(self, root: str, at: datetime) -> None:
        """Add that all removals of a root so far were confirmed. Raises OSError."""
        self._add([{"decision": "accept-removals", "root": root, "at": iso(at)}])

    def decisions(self) -> Decisions:
        """Return the decisions in force; lines that cannot be read are left out."""
        found = Decisions()
        for entry in self._entries():
            with suppress(KeyError, TypeError):
                _apply(found, entry)
        return found

    def _entries(self) -> Iterator[dict[str, Any]]:
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(ValueError):  # the last line of a crash
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry

    def _add(self, entries: list[dict[str, Json]]) -> None:
        if not entries:
            return
        handle = os.open(self._path, _FLAGS, 0o644)
        try:
            text = "".join(f"{to_json(entry)}\n" for entry in entries)
            os.write(handle, f"\n{text}".encode())  # a crash may have left half a line
            os.fsync(handle)
        finally:
            os.close(handle)


def decided_in(connection: sqlite3.Connection) -> Decisions:
    """Return the decisions that a catalog of any release has, as far as they can be read."""
    found = Decisions()
    with suppress(sqlite3.Error):
        for root, path, *pin in connection.execute(_PINS):
            found.pins[root, path] = Pin(*pin)
    with suppress(sqlite3.Error):
        for root, path, at in connection.execute(_PREFERENCES):
            found.preferences[root, path] = at
    with suppress(sqlite3.Error):
        found.reviews += (Review(*row) for row in connection.execute(_REVIEWS))
    return found


def _differences(known: Decisions, decided: Decisions) -> Iterator[dict[str, Json]]:
    for (root, path), pin in decided.pins.items():
        if known.pins.get((root, path)) != pin:
            yield {"decision": "pin", "root": root, "path": path, **pin._asdict()}
    for root, path in known.pins.keys() - decided.pins.keys():
        yield {"decision": "unpin", "root": root, "path": path}
    for (root, path), since in decided.preferences.items():
        if known.preferences.get((root, path)) != since:
            yield {"decision": "prefer", "root": root, "path": path, "since": since}
    for root, path in known.preferences.keys() - decided.preferences.keys():
        yield {"decision": "unprefer", "root": root, "path": path}
    old = set(known.reviews)
    for review in decided.reviews:
        if review not in old:
            yield review._asdict() | {"decision": "review", "verdict": review.decision}


def _apply(found: Decisions, entry: dict[str, Any]) -> None:
    """Add an entry to the decisions before it. Raises KeyError and TypeError if it is invalid."""
    decision = entry["decision"]
    if decision == "review":
        fields = entry | {"decision": entry["verdict"]}
        found.reviews.append(Review(*(fields[name] for name in Review._fields)))
        return
    place = (str(entry["root"]), str(entry.get("path")))
    if decision == "pin":
        found.pins[place] = Pin(*(entry[name] for name in Pin._fields))
    elif decision == "unpin":
        found.pins.pop(place, None)
    elif decision == "prefer":
        found.preferences[place] = str(entry["since"])
    elif decision == "unprefer":
        found.preferences.pop(place, None)


_PINS = """
    SELECT s.root, s.path, v.skill_id, v.version, v.digest
    FROM skills AS s JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id > 0 AND s.status != 'removed' ORDER BY +s.id
"""
_PREFERENCES = """
    SELECT root, path, preferred_at FROM skills
    WHERE preferred_at > '' AND status != 'removed' ORDER BY +id
"""
_REVIEWS = """
    SELECT digest, decision, decided_by, decided_at, why, version FROM reviews ORDER BY id
"""

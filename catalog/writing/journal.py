"""Decisions of people: in the catalog, and in the journal beside it."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from catalog.database.queries import Database
from catalog.database.sql import insert, to_json
from catalog.model.change import Judged
from catalog.model.values import Json
from catalog.text.humanize import iso
from catalog.writing.packager import Packager

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


class DecisionKeeper:
    """The decisions in a catalog and in the journal beside it.

    A catalog that was lost, or rebuilt from a damaged file, takes over the decisions that only the
    journal has: reviews and pins before it is scanned, preferences after that.
    """

    def __init__(
        self, packager: Packager, db: Database, file: Path | None, *, is_rebuilt: bool
    ) -> None:
        """Take the catalog, its packager, and the path of the journal; None for no journal."""
        self._packager, self._db = packager, db
        self._journal = Journal(file) if file else None
        has_versions = db.execute("SELECT 1 FROM versions LIMIT 1").fetchone()
        self.are_lost = not has_versions or is_rebuilt
        """Whether the catalog may lack decisions of the journal: until its first full scan."""

    def write(self, at: datetime) -> None:
        """Add the decisions that the journal lacks. Raises OSError."""
        if self._journal and not self.are_lost:
            self._journal.update(decided_in(self._db.conn), at)

    def note_accepted_removals(self, root: str, at: datetime) -> None:
        """Add that all removals of a root so far were confirmed. Raises OSError."""
        if self._journal:
            self._journal.note_accepted_removals(root, at)

    def take_reviews(self) -> int:
        """Store the reviews that only the journal has; return their number."""
        known = set(decided_in(self._db.conn).reviews)
        new = [each for each in self._kept.reviews if each not in known]
        self._db.conn.executemany(insert("reviews", Review._fields), new)
        return len(new)

    def lost_pins(self) -> dict[Place, Pin]:
        """Return the pins that only the journal has, by place."""
        known = decided_in(self._db.conn).pins
        return {place: pin for place, pin in self._kept.pins.items() if place not in known}

    def take_pin(self, judged: Judged, pin: Pin) -> None:
        """Store a skill at the version of a lost pin, whose package was judged."""
        at = datetime.fromisoformat(judged.started_at)
        self._packager.apply([judged], trigger="start", at=at)
        package_path = f"{pin.skill_id}/{pin.version}"
        self._db.execute(_NAME_PINNED, [pin.version, package_path, *judged.places[0]])
        self._db.execute(_PIN, judged.places[0])

    def take_preferences(self, at: datetime) -> None:
        """Store the preferences that only the journal has, after the first full scan."""
        if not self.are_lost:
            return
        preferences = self._kept.preferences

        def work() -> set[str]:
            return {
                skill_id
                for place, since in preferences.items()
                for (skill_id,) in self._db.execute(_PREFER, [since, *place]).fetchall()
            }

        if preferences:
            self._packager.publish(work, at, trigger="start")
        self.are_lost = False
        self.write(at)

    @property
    def _kept(self) -> Decisions:
        return self._journal.decisions() if self._journal else Decisions()


_NAME_PINNED = """
    UPDATE versions SET version = ?, package_path = ? WHERE id =
        (SELECT current_version_id FROM skills WHERE root = ? AND path = ?)
"""
_PIN = """
    UPDATE skills SET pinned_version_id = current_version_id, fingerprint = ''
    WHERE root = ? AND path = ?
"""
_PREFER = """
    UPDATE skills SET preferred_at = ? WHERE root = ? AND path = ? AND preferred_at IS NULL
        AND status IN ('active', 'shadowed') RETURNING skill_id
"""

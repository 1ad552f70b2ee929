"""Decisions of people: in the catalog, and in the journal beside it."""

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from catalog.database.queries import Writer, to_json
from catalog.model.values import Json
from catalog.text.humanize import iso
from catalog.writing.packager import Packager
from catalog.writing.takeover import Takeover

log = logging.getLogger("skilldrop")

NAME = "decisions.jsonl"

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


class Link(NamedTuple):
    """Directory of `skilldrop link`, in the columns of `linked_directories`."""

    path: str
    index_name: str | None
    filter: str
    is_copy: int
    agent: str | None
    finder: str | None


@dataclass(slots=True)
class Decisions:
    """Decisions in force, and all reviews in their order."""

    pins: dict[Place, Pin] = field(default_factory=dict)
    preferences: dict[Place, str] = field(default_factory=dict)  # times, ISO 8601
    reviews: list[Review] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)  # by path

    def of_places(self, kind: str) -> dict[Place, Any]:
        """Return the decisions on skills: kind is pin or prefer."""
        return self.pins if kind == "pin" else self.preferences


def update(
    file: Path,
    decided: Decisions,
    at: datetime,
    *,
    is_known: Callable[[Place], bool] = lambda _: True,
) -> None:
    """Add the differences between a journal and the decisions of a catalog. Raises OSError.

    A decision on a place that the catalog does not know stays in force.
    """
    found = _differences(decisions(file), decided, is_known)
    if not (text := "".join(f"{to_json(entry | {'at': iso(at)})}\n" for entry in found)):
        return
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    handle = os.open(file, flags, 0o644)
    try:
        os.write(handle, f"\n{text}".encode())  # a crash may have left half a line
        os.fsync(handle)
    finally:
        os.close(handle)


def decisions(file: Path) -> Decisions:
    """Return the decisions in force of a journal; lines that cannot be read are left out."""
    found = Decisions()
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return found  # nobody has decided anything yet
    except OSError as error:
        log.warning("The decisions in %s cannot be taken over: %s", file, error)
        return found
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):  # ValueError: the last line of a crash
            _apply(found, json.loads(line))
    return found


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
    with suppress(sqlite3.Error):
        found.links |= {row[0]: Link(*row) for row in connection.execute(_LINKS)}
    return found


def _differences(
    known: Decisions, decided: Decisions, is_known: Callable[[Place], bool]
) -> Iterator[dict[str, Json]]:
    for kind in ("pin", "prefer"):
        before, now = known.of_places(kind), decided.of_places(kind)
        for (root, path), value in now.items():
            if before.get((root, path)) != value:
                fields = value._asdict() if isinstance(value, Pin) else {"since": value}
                yield {"decision": kind, "root": root, "path": path, **fields}
        for root, path in filter(is_known, before.keys() - now.keys()):
            yield {"decision": f"un{kind}", "root": root, "path": path}
    for path, link in decided.links.items():
        if known.links.get(path) != link:
            yield {"decision": "link", **link._asdict()}
    for path in known.links.keys() - decided.links.keys():
        yield {"decision": "unlink", "path": path}
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
    if decision in ("link", "unlink"):
        found.links.pop(entry["path"], None)
        if decision == "link":
            found.links[entry["path"]] = Link(*(entry[name] for name in Link._fields))
        return
    place = (str(entry["root"]), str(entry.get("path")))
    if decision == "pin":
        found.pins[place] = Pin(*(entry[name] for name in Pin._fields))
    elif decision == "prefer":
        found.preferences[place] = str(entry["since"])
    elif decision in ("unpin", "unprefer"):
        found.of_places(decision.removeprefix("un")).pop(place, None)


_PINS = """
    SELECT s.root, s.path, v.skill_id, v.version, v.digest
    FROM skills AS s JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id > 0 AND s.status != 'removed' ORDER BY +s.id
"""
_PREFERENCES = """
    SELECT root, path, preferred_at FROM skills
    WHERE preferred_at > '' AND status != 'removed' ORDER BY +id
"""
_LINKS = f"""
    SELECT {", ".join(Link._fields)} FROM linked_directories
    WHERE origin = 'command' AND NOT is_leaving ORDER BY id
"""
_REVIEWS = """
    SELECT digest, decision, decided_by, decided_at, why, version FROM reviews ORDER BY id
"""


class DecisionKeeper:
    """The decisions in a catalog and in the journal beside it.

    A new catalog takes over the decisions that only the journal has: reviews and pins before its
    first scan, preferences at the end of a scan.
    """

    def __init__(
        self, packager: Packager, db: Writer, file: Path | None, takeover: Takeover
    ) -> None:
        """Take the catalog, the path of its journal, or None, and the takeover of a lost one."""
        self._packager, self._db = packager, db
        self._file, self._takeover = file, takeover

    def write(self, at: datetime) -> None:
        """Add the decisions that the journal lacks. Raises OSError."""
        if not self._takeover.is_unscanned:  # it may lack decisions of the journal
            self._write(at)

    def _write(self, at: datetime) -> None:
        if self._file:
            update(self._file, decided_in(self._db.conn), at, is_known=self._is_known)

    def _is_known(self, place: Place) -> bool:
        query = "SELECT 1 FROM skills WHERE root = ? AND path = ?"
        return self._db.execute(query, place).fetchone() is not None

    def kept(self) -> Decisions:
        """Return the decisions of the journal."""
        return decisions(self._file) if self._file else Decisions()

    def take_reviews(self) -> int:
        """Store the reviews that only the journal has; return their number."""
        known = set(decided_in(self._db.conn).reviews)
        new = [each for each in self.kept().reviews if each not in known]
        self._db.table("reviews").insert_all(review._asdict() for review in new)
        return len(new)

    def take_links(self) -> int:
        """Store the directories of links that only the journal has; return the number of all."""
        links = self.kept().links.values()
        rows = [link._asdict() | {"origin": "command"} for link in links]
        self._db.table("linked_directories").insert_all(rows, ignore=True)
        return len(rows)

    def lost_pins(self) -> dict[Place, Pin]:
        """Return the pins that only the journal has, by place."""
        known = decided_in(self._db.conn).pins
        return {place: pin for place, pin in self.kept().pins.items() if place not in known}

    def take_preferences(self, at: datetime) -> None:
        """Store the preferences that only the journal has, at the end of a full scan."""
        if not self._takeover.is_under_way:
            return
        preferences = self.kept().preferences

        def work() -> set[str]:
            return {
                skill_id
                for place, since in preferences.items()
                for (skill_id,) in self._db.execute(_PREFER, [since, *place]).fetchall()
            }

        if preferences:
            self._packager.publish(work, at, trigger="start")
        self._write(at)


_PREFER = """
    UPDATE skills AS s SET preferred_at = max(?, (SELECT max(name_since) FROM skills AS rival
        WHERE rival.skill_id = s.skill_id AND rival.status IN ('active', 'shadowed')))
    WHERE root = ? AND path = ? AND status IN ('active', 'shadowed') AND NOT EXISTS
        (SELECT 1 FROM skills AS rival WHERE rival.skill_id = s.skill_id
            AND rival.preferred_at IS NOT NULL AND rival.status IN ('active', 'shadowed'))
    RETURNING skill_id
"""

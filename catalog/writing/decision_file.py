"""Decisions of people: in the catalog, and in the file beside it."""

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from catalog.database.queries import Writer
from catalog.filesystem.operations import replaced
from catalog.model.errors import NotInCatalog
from catalog.text.humanize import count, iso
from catalog.writing import decisions as on_versions
from catalog.writing.decisions import Decision
from catalog.writing.packager import Packager
from catalog.writing.takeover import Takeover

log = logging.getLogger("skilldrop")

NAME = "decisions.json"

T = TypeVar("T")
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
    decision: Literal["approved", "rejected"]
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
    number: int = field(default=0, compare=False)  # greater after each change of the file


def update(
    file: Path, decided: Decisions, *, is_known: Callable[[Place], bool] = lambda _: True
) -> int:
    """Write the decisions of a catalog to their file, if it has others; return their number.

    A decision on a place that the catalog does not know stays in force, and so does each review.
    Raises OSError.
    """
    before = decisions(file)
    now = Decisions(
        {place: pin for place, pin in before.pins.items() if not is_known(place)} | decided.pins,
        {place: at for place, at in before.preferences.items() if not is_known(place)}
        | decided.preferences,
        list(dict.fromkeys([*before.reviews, *decided.reviews])),
        decided.links,
        max(before.number, decided.number),
    )
    if now == before:
        return now.number
    now.number += 1
    rows = {
        "number": now.number,
        "pins": [
            {"root": root, "path": path} | pin._asdict() for (root, path), pin in now.pins.items()
        ],
        "preferences": [
            {"root": root, "path": path, "since": since}
            for (root, path), since in now.preferences.items()
        ],
        "reviews": [review._asdict() for review in now.reviews],
        "links": [link._asdict() for link in now.links.values()],
    }
    with replaced(file) as new:
        new.write(f"{json.dumps(rows, ensure_ascii=False, indent=1)}\n".encode())
    return now.number


def decisions(file: Path) -> Decisions:
    """Return the decisions in force of a file.

    One that cannot be read is kept under another name, with a warning.
    """
    try:
        rows = json.loads(file.read_bytes())
        return Decisions(
            {(row.pop("root"), row.pop("path")): Pin(**row) for row in rows["pins"]},
            {(row["root"], row["path"]): row["since"] for row in rows["preferences"]},
            [Review(**row) for row in rows["reviews"]],
            {row["path"]: Link(**row) for row in rows["links"]},
            int(rows.get("number", 0)),
        )
    except FileNotFoundError:  # nobody has decided anything yet
        pass
    except (OSError, ValueError, KeyError, TypeError) as error:
        kept = file.with_name(f"{file.name}.unreadable")
        with suppress(OSError):
            os.replace(file, kept)
        log.warning("The decisions in %s cannot be taken over; see %s: %s", file, kept, error)
    return Decisions()


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
    (found.number,) = connection.execute("PRAGMA user_version").fetchone()
    return found


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
    """The decisions in a catalog and in the file beside it.

    A new catalog takes over the decisions that only the file has: reviews and pins before its
    first scan, preferences at the end of a scan. A catalog from a backup takes over the newer ones
    before anything is published. A review has its time; the others count together, by the number
    of the file, which the catalog has as its `user_version`.
    """

    def __init__(
        self, packager: Packager, db: Writer, file: Path | None, takeover: Takeover
    ) -> None:
        self._packager, self._db = packager, db
        self._file, self._takeover = file, takeover

    def write(self) -> None:
        """Bring the file up to the catalog. Raises OSError."""
        if not self._takeover.is_unscanned:  # it may lack decisions of the file
            self._write()

    def _write(self) -> None:
        if self._file:
            decided = decided_in(self._db.conn)
            number = update(self._file, decided, is_known=self._is_known)
            if number != decided.number:
                self._db.execute(f"PRAGMA user_version = {number}")

    def _is_known(self, place: Place) -> bool:
        query = "SELECT 1 FROM skills WHERE root = ? AND path = ?"
        return self._db.execute(query, place).fetchone() is not None

    def kept(self) -> Decisions:
        """Return the decisions of the file."""
        return decisions(self._file) if self._file else Decisions()

    def take_newer(self, at: datetime) -> None:
        """Follow the decisions that are newer in the file, and bring it up to the catalog."""
        if self._takeover.is_under_way:
            return
        kept, taken = self.kept(), self.take_reviews(at)
        own = decided_in(self._db.conn)  # a review may have ended a pin
        if kept.number > own.number:
            pins = self._differing(kept.pins, own.pins)
            preferences = self._differing(kept.preferences, own.preferences)
            links = {path for path, _ in kept.links.items() ^ own.links.items()}
            taken += len(pins) + len(preferences) + len(links)

            def work() -> set[str]:
                self._db.execute(_LEAVE)
                self.take_links()
                pinned = (self._pin(place, kept.pins.get(place), iso(at)) for place in pins)
                return self._ids(_END, preferences).union(*pinned, self._prefer(kept))

            self._packager.publish(work, at, trigger="start")
        if taken:
            log.warning("the catalog follows %s in %s", count(taken, "newer decision"), self._file)
        self._write()

    def _differing(self, kept: Mapping[Place, T], own: Mapping[Place, T]) -> set[Place]:
        return {place for place, _ in kept.items() ^ own.items() if self._is_known(place)}

    def _pin(self, place: Place, pin: Pin | None, at: str) -> set[str]:
        folder = "/".join(place)
        try:
            if pin:
                return on_versions.pin(self._db, folder, pin.version, at)
            return on_versions.unpin(self._db, folder, at)
        except NotInCatalog as error:
            log.warning("the pin of %s in %s is lost: %s", folder, self._file, error)
        return set()

    def take_reviews(self, at: datetime) -> int:
        """Follow the reviews that are newer in the file; return their number."""
        newest = {each.digest: each.decided_at for each in decided_in(self._db.conn).reviews}
        kept = self.kept().reviews
        new = [each for each in kept if each.decided_at > newest.get(each.digest, "")]

        def decide(each: Review) -> set[str]:
            version = each._asdict() | {"skill": None}
            return on_versions.decide(self._db, version, Decision(*each[1:5]))

        if new:
            self._packager.publish(lambda: set().union(*map(decide, new)), at, trigger="start")
        return len(new)

    def take_links(self) -> int:
        """Store the directories of links that only the file has; return the number of all."""
        links = self.kept().links.values()
        self._db.conn.executemany(_TAKE_LINK, links)
        return len(links)

    def lost_pins(self) -> dict[Place, Pin]:
        """Return the pins that only the file has, by place."""
        known = decided_in(self._db.conn).pins
        return {place: pin for place, pin in self.kept().pins.items() if place not in known}

    def take_preferences(self, at: datetime) -> None:
        """Store the preferences that only the file has, at the end of a full scan."""
        if not self._takeover.is_under_way:
            return
        self._packager.publish(lambda: self._prefer(self.kept()), at, trigger="start")
        self._write()

    def _prefer(self, kept: Decisions) -> set[str]:
        return self._ids(_PREFER, ((at, *place) for place, at in kept.preferences.items()))

    def _ids(self, update: str, rows: Iterable[Sequence[str]]) -> set[str]:
        return {each for row in rows for (each,) in self._db.execute(update, row).fetchall()}


_LEAVE = "UPDATE linked_directories SET is_leaving = 1 WHERE origin = 'command'"
_TAKE_LINK = f"""
    INSERT INTO linked_directories (origin, {", ".join(Link._fields)})
    VALUES ('command'{", ?" * len(Link._fields)})
    ON CONFLICT (path) DO UPDATE SET origin = 'command', is_leaving = 0,
        {", ".join(f"{name} = excluded.{name}" for name in Link._fields)} WHERE is_leaving
"""
_END = "UPDATE skills SET preferred_at = NULL WHERE root = ? AND path = ? RETURNING skill_id"
_PREFER = """
    UPDATE skills AS s SET preferred_at = max(?, (SELECT max(name_since) FROM skills AS rival
        WHERE rival.skill_id = s.skill_id AND rival.status IN ('active', 'shadowed')))
    WHERE root = ? AND path = ? AND status IN ('active', 'shadowed') AND NOT EXISTS
        (SELECT 1 FROM skills AS rival WHERE rival.skill_id = s.skill_id
            AND rival.preferred_at IS NOT NULL AND rival.status IN ('active', 'shadowed'))
    RETURNING skill_id
"""

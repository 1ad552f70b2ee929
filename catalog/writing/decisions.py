"""Decisions of people in a catalog: written to its journal, and taken over from it."""

from datetime import datetime
from pathlib import Path

from catalog.database.queries import Database
from catalog.database.sql import insert
from catalog.model.change import Judged
from catalog.writing import journal
from catalog.writing.journal import Decisions, Journal, Pin, Place, Review
from catalog.writing.packager import Packager


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
            self._journal.update(journal.decided_in(self._db.conn), at)

    def note_accepted_removals(self, root: str, at: datetime) -> None:
        """Add that all removals of a root so far were confirmed. Raises OSError."""
        if self._journal:
            self._journal.note_accepted_removals(root, at)

    def take_reviews(self) -> int:
        """Store the reviews that only the journal has; return their number."""
        known = set(journal.decided_in(self._db.conn).reviews)
        new = [each for each in self._kept.reviews if each not in known]
        self._db.conn.executemany(insert("reviews", Review._fields), new)
        return len(new)

    def lost_pins(self) -> dict[Place, Pin]:
        """Return the pins that only the journal has, by place."""
        known = journal.decided_in(self._db.conn).pins
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

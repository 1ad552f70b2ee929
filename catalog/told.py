"""How the service is, and times and counts, as a person tells them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

SILENT = 30.0
"""Seconds without a sign of life after which a service is taken for dead."""

Tone: TypeAlias = Literal["good", "odd", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class Health:
    """How the service is, in words."""

    tone: Tone
    sentence: str
    details: tuple[str, ...] = ()
    is_held: bool = False  # removals wait for somebody to accept them

    @property
    def is_well(self) -> bool:
        """Whether the catalog can be relied on to follow the folder, or is not meant to."""
        return self.tone != "bad"

    @property
    def is_followed(self) -> bool:
        """Whether a service follows the folder now, and waits for nobody to decide anything."""
        return self.tone == "good" or (self.tone == "odd" and not self.is_held)


def health(row: Mapping[str, Any], troubles: Sequence[Mapping[str, Any]], now: datetime) -> Health:
    """Return what the health row and the roots' troubles mean to a person."""
    details = [f"{root['path']} cannot be read: {root['trouble']}" for root in troubles]
    if row["held_removals"]:
        details.append(f"{count(row['held_removals'], 'removal')} held: so many skills vanished at "
                       "once that someone has to accept it (`skilldrop reconcile`).")
    if row["service_pid"] is None or row["service_stopped"]:
        when = f" since {ago(row['service_stopped'], now)}" if row["service_stopped"] else ""
        return Health("bad" if troubles else "quiet",
                      f"Not watching{when}; {_scanned(row, now)}.", tuple(details))
    if _seconds(row["service_seen"], now) > SILENT:
        return Health("bad", f"The service was last heard of {ago(row['service_seen'], now)}; "
                             "it may have been killed.", tuple(details))
    if row["watcher_mode"] == "polling":
        details.append(f"Changes are looked for at intervals: {row['watcher_reason']}.")
    pending = f"{row['pending_count']} pending" if row["pending_count"] else "nothing pending"
    watching = "Watching" if row["watcher_mode"] != "stopped" else "Starting to watch"
    tone: Tone = "bad" if troubles else (
        "good" if row["watcher_mode"] == "native" and not row["held_removals"] else "odd")
    return Health(tone, f"{watching}, {_scanned(row, now)}, {pending}.", tuple(details),
                  bool(row["held_removals"]))


def _scanned(row: Mapping[str, Any], now: datetime) -> str:
    last = row["last_full_scan"]
    return f"last full scan {ago(last, now)}" if last else "no full scan yet"


def ago(moment: str | None, now: datetime) -> str:
    """Return how long ago an ISO 8601 time was, in its largest unit."""
    if not moment:
        return "never"
    seconds = int(_seconds(moment, now))
    for size, word in ((31_536_000, "year"), (2_592_000, "month"), (86_400, "day"),
                       (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{count(seconds // size, word)} ago"
    return "just now" if seconds < 5 else f"{count(seconds, 'second')} ago"


def count(number: int, word: str, plural: str = "") -> str:
    """Return a number and its noun."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def _seconds(moment: str, now: datetime) -> float:
    at = datetime.fromisoformat(moment)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()

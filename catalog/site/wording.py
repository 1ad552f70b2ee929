"""How the pages put it in words: times, sizes, counts and the state of the service."""

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

    @property
    def is_well(self) -> bool:
        """Whether the catalog can be relied on to follow the folder, or is not meant to."""
        return self.tone != "bad"


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
    return Health(tone, f"{watching}, {_scanned(row, now)}, {pending}.", tuple(details))


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


def size(number: int | None) -> str:
    """Return bytes as a person says them."""
    if number is None:
        return "?"
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def milliseconds(number: float | None) -> str:
    """Return a duration as a person says it."""
    if number is None:
        return "cut short"
    return f"{number / 1000:.1f} s" if number >= 1000 else f"{number:.1f} ms"


def why_not(state: Mapping[str, Any]) -> tuple[str, str]:
    """Return why an index does not show a skill in full, and what to do; both can be empty."""
    if state["state"]:
        return state["reason"] or "", ""
    match state["left_out"]:
        case "hidden":
            return ("It declares disable-model-invocation, so agents are not told of it.",
                    "Remove that from SKILL.md if agents shall start it.")
        case "filtered":
            return ("The filter of this index does not let it in.",
                    "Change levels, tags or names of the index in skilldrop.toml.")
        case "over_budget":
            return (f"The skills before it fill the {state['budget_chars']:,} characters.",
                    "Raise the budget, or the priority of the skill.")
    return "", ""


def _seconds(moment: str, now: datetime) -> float:
    at = datetime.fromisoformat(moment)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()

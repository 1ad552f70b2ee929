"""Times, durations, counts and sizes for people; only this module uses the library humanize."""

from datetime import UTC, datetime

import humanize


def ago(moment: str | None, now: datetime) -> str:
    """Return how long ago an ISO 8601 time was; a time in the future is just now."""
    if not moment:
        return "never"
    seconds = seconds_since(moment, now)
    return humanize.naturaltime(seconds) if seconds >= 1 else "just now"


def ahead(moment: str, now: datetime) -> str:
    """Return how far ahead an ISO 8601 time is; a time in the past is now."""
    return humanize.naturaltime(max(-seconds_since(moment, now), 0), future=True)


def duration(seconds: float) -> str:
    """Return a duration: 1.50 ms, 2.00 s, 1 minute and 1 second."""
    if seconds < 60:  # beyond, `metric` counts in ks
        return humanize.metric(seconds, "s")
    return humanize.precisedelta(seconds, minimum_unit="seconds", format="%d")


def size(number: float) -> str:
    """Return a size in the units of the settings: 12 bytes, 1.5 KiB, 512.0 MiB."""
    if number < 1024:  # humanize writes "Bytes", even within a sentence
        return count(int(number), "byte")
    return humanize.naturalsize(number, binary=True)


def count(number: int, word: str, plural: str = "") -> str:
    """Return a number and its noun in singular or plural."""
    return f"{humanize.intcomma(number)} {word if number == 1 else plural or f'{word}s'}"


def seconds_since(moment: str, now: datetime) -> float:
    """Return the seconds from an ISO 8601 time, in UTC where it names no zone, until now."""
    at = datetime.fromisoformat(moment)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()

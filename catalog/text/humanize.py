"""Times, durations, counts and sizes, as the catalog stores them and as people read them."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import humanize

from catalog.model.errors import FilterInvalid
from catalog.text.visible import printable


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


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return words as "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def seconds_since(moment: str, now: datetime) -> float:
    """Return the seconds from an ISO 8601 time, in UTC where it names no zone, until now."""
    at = datetime.fromisoformat(moment)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()


_AGE = re.compile(r"(\d{1,6}) ?(h|d|w)")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def iso(at: datetime) -> str:
    """Return a time in ISO 8601 to the millisecond; times in UTC sort as text."""
    return at.isoformat(timespec="milliseconds")


def since(text: str, now: datetime) -> str:
    """Return the time of an ISO 8601 date or time, or of an age such as `7d`, in UTC.

    A time without a zone is in UTC. "" stays "". Raises FilterInvalid.
    """
    if not text:
        return ""
    try:
        if age := _AGE.fullmatch(text.lower()):
            return iso((now - timedelta(**{_UNITS[age[2]]: int(age[1])})).astimezone(UTC))
        at = datetime.fromisoformat(text)
        return iso((at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC))
    except (ValueError, OverflowError):
        raise FilterInvalid(
            f"'{printable(text)}' is not a time; write a date such as 2026-11-20, a time such as"
            " 2026-11-20T14:05, or an age such as 12h, 7d or 2w."
        ) from None

"""Times, counts and sizes as people say them."""

from datetime import UTC, datetime


def ago(moment: str | None, now: datetime) -> str:
    """Return how long ago an ISO 8601 time was, in its largest unit."""
    if not moment:
        return "never"
    seconds = int(_seconds(moment, now))
    for size, word in (
        (31_536_000, "year"),
        (2_592_000, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ):
        if seconds >= size:
            return f"{count(seconds // size, word)} ago"
    return "just now" if seconds < 5 else f"{count(seconds, 'second')} ago"


def count(number: int, word: str, plural: str = "") -> str:
    """Return a number and its noun."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def _seconds(moment: str, now: datetime) -> float:
    at = datetime.fromisoformat(moment)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()

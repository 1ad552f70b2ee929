"""Times in the format of the catalog."""

from datetime import datetime


def iso(at: datetime) -> str:
    """Return a time in ISO 8601 to the millisecond; times in UTC sort as text."""
    return at.isoformat(timespec="milliseconds")

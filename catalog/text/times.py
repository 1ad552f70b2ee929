"""Times in the form in which the catalog keeps them."""

from datetime import datetime


def iso(at: datetime) -> str:
    """Return a time in ISO 8601 to the millisecond; two in UTC sort as they follow."""
    return at.isoformat(timespec="milliseconds")

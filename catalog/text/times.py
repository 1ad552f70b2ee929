"""Times in the format of the catalog."""

import re
from datetime import UTC, datetime, timedelta

from catalog.model.errors import FilterInvalid
from catalog.text.quoting import printable

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
            f"'{printable(text)}' is no time; write a date such as 2026-11-20, a time such as"
            " 2026-11-20T14:05, or an age such as 12h, 7d or 2w."
        ) from None

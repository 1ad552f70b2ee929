"""Times, durations, counts and sizes for people."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from catalog.model.errors import FilterInvalid
from catalog.text import humanize
from catalog.text.humanize import iso, since

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(**ahead: float) -> str:
    """Return a time as the catalog stores it."""
    return (NOW + timedelta(**ahead)).isoformat(timespec="milliseconds")


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        ({"seconds": 0}, "just now"),
        ({"seconds": 9}, "just now"),
        ({"seconds": -1}, "a second ago"),
        ({"seconds": -59}, "59 seconds ago"),
        ({"seconds": -60}, "a minute ago"),
        ({"hours": -23}, "23 hours ago"),
        ({"days": -1}, "a day ago"),
        ({"days": -40}, "a month ago"),
        ({"days": -500}, "1 year, 4 months ago"),
        ({"days": -800}, "2 years ago"),
    ],
)
def test_a_time_is_never_ahead(ahead: dict[str, float], text: str) -> None:
    """A time in the future, after a clock was set back, is just now."""
    assert humanize.ago(at(**ahead), NOW) == text


def test_no_time_at_all_is_never() -> None:
    """A column of times may be null."""
    assert humanize.ago(None, NOW) == "never"


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        ({"seconds": -5}, "now"),
        ({"seconds": 0.4}, "now"),
        ({"seconds": 20}, "20 seconds from now"),
        ({"minutes": 2}, "2 minutes from now"),
    ],
)
def test_a_planned_time_is_never_past(ahead: dict[str, float], text: str) -> None:
    """An overdue time is now."""
    assert humanize.ahead(at(**ahead), NOW) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.0005, "500 μs"),
        (0.0015, "1.50 ms"),
        (1.5, "1.50 s"),
        (59, "59.0 s"),
        (61.4, "1 minute and 1 second"),
        (7000, "1 hour, 56 minutes and 40 seconds"),
    ],
)
def test_a_duration_has_three_digits_or_whole_seconds(seconds: float, text: str) -> None:
    """From one minute, parts of a second do not matter."""
    assert humanize.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.0 KiB"),
        (512 * 2**20, "512.0 MiB"),
        (7 * 2**40, "7.0 TiB"),
    ],
)
def test_a_size_is_in_the_units_of_the_settings(number: int, text: str) -> None:
    """Those are multiples of 1,024, too."""
    assert humanize.size(number) == text


@pytest.mark.parametrize(
    ("number", "plural", "text"),
    [
        (0, "", "0 skills"),
        (1, "", "1 skill"),
        (1234, "", "1,234 skills"),
        (2, "people", "2 people"),
    ],
)
def test_a_count_agrees_with_its_noun(number: int, plural: str, text: str) -> None:
    """Thousands are set apart by commas."""
    assert humanize.count(number, "skill", plural) == text


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "2026-11-20T12:00:00.000+00:00"), (1999, "2026-11-20T12:00:00.001+00:00")],
)
def test_all_times_have_one_length(microsecond: int, text: str) -> None:
    """They therefore sort as text."""
    assert iso(datetime(2026, 11, 20, 12, microsecond=microsecond, tzinfo=UTC)) == text


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", ""),
        ("2026-11-18", "2026-11-18T00:00:00.000+00:00"),
        ("2026-11-18T14:05", "2026-11-18T14:05:00.000+00:00"),
        ("2026-11-18T14:05+02:00", "2026-11-18T12:05:00.000+00:00"),
        ("12h", "2026-11-20T00:00:00.000+00:00"),
        ("7d", "2026-11-13T12:00:00.000+00:00"),
        ("2 W", "2026-11-06T12:00:00.000+00:00"),
    ],
)
def test_a_time_or_an_age_becomes_a_time_of_the_catalog(
    text: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time without a zone is in UTC, wherever the machine is."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert since(text, datetime(2026, 11, 20, 12, tzinfo=UTC)) == at
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text",
    ["soon", "7", "d", "-7d", "999999w", "2026-13-01", "0001-01-01T00:00+05:00", "\0"],
)
def test_other_texts_are_no_time(text: str) -> None:
    """The error shows what to write."""
    with pytest.raises(FilterInvalid, match="an age such as 12h, 7d or 2w"):
        since(text, datetime(2026, 11, 20, 12, tzinfo=UTC))

"""The format of times in the catalog."""

import time
from datetime import UTC, datetime

import pytest

from catalog.model.errors import FilterInvalid
from catalog.text.times import iso, since


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

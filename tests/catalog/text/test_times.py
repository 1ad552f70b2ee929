"""The format of times in the catalog."""

from datetime import UTC, datetime

import pytest

from catalog.text.times import iso


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "2026-11-20T12:00:00.000+00:00"), (1999, "2026-11-20T12:00:00.001+00:00")],
)
def test_all_times_have_one_length(microsecond: int, text: str) -> None:
    """They therefore sort as text."""
    assert iso(datetime(2026, 11, 20, 12, microsecond=microsecond, tzinfo=UTC)) == text

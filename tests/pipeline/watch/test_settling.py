"""Settling: which units are due, and when."""

from math import inf

import pytest

from pipeline.watch.settling import Settling, WatchUnit

A, B = WatchUnit("/root", "a"), WatchUnit("/root", "b")


def test_a_unit_is_due_when_no_hint_came_for_the_quiet_time() -> None:
    """Each hint of a unit restarts its quiet time; other units do not affect it."""
    settle = Settling(quiet=1.0, longest=60.0)
    settle.hint(A, 10.0)
    settle.hint(B, 10.5)
    settle.hint(A, 10.9)
    assert settle.due(11.5) == [B]
    assert settle.due(11.9) == [A, B]


def test_a_hint_of_a_moment_ago_shortens_no_quiet_time() -> None:
    """It waited for the loop, which has found the unit still changing since."""
    settle = Settling(quiet=1.0, longest=60.0)
    settle.hint(A, 10.0)
    settle.again(A, 10.5)
    settle.hint(A, 10.2)
    assert settle.due(11.4) == []
    assert settle.due(11.5) == [A]


def test_a_unit_stays_due_until_it_is_done() -> None:
    """Unfinished units are not forgotten."""
    settle = Settling(quiet=1.0, longest=60.0)
    settle.hint(A, 0.0)
    assert settle.due(1.0) == settle.due(2.0) == [A]
    settle.done([A])
    assert settle.due(3.0) == []
    assert len(settle) == 0


def test_a_unit_that_never_rests_is_overdue_since_its_first_hint() -> None:
    """It keeps waiting, and can be shown as pending."""
    settle = Settling(quiet=1.0, longest=5.0)
    for second in range(8):
        settle.hint(A, float(second))
    assert settle.overdue(A, 4.9) is None
    assert settle.overdue(A, 7.5) == 0.0
    assert settle.overdue(B, 7.5) is None


def test_a_unit_that_never_rests_is_scanned_all_the_same() -> None:
    """Each time the longest time has passed, so that the scan can find it still changing."""
    settle = Settling(quiet=1.0, longest=5.0)
    for tenths in range(50):
        settle.hint(A, tenths / 10)
        assert settle.due(tenths / 10 + 0.05) == []
    assert settle.seconds_to_next(4.95) == pytest.approx(0.05)
    assert settle.due(5.0) == [A]
    settle.again(A, 5.1)
    for tenths in range(51, 101):
        settle.hint(A, tenths / 10)
        assert settle.due(tenths / 10) == []
    assert settle.due(10.1) == [A]
    assert settle.overdue(A, 10.1) == 0.0


def test_the_next_wake_up_is_when_the_first_unit_can_be_due() -> None:
    """A waiting loop sleeps exactly that long, and without a limit if no unit waits."""
    settle = Settling(quiet=1.0, longest=60.0)
    assert settle.seconds_to_next(0.0) == inf
    settle.hint(A, 0.0)
    settle.hint(B, 0.5)
    assert settle.seconds_to_next(0.25) == 0.75
    assert settle.seconds_to_next(9.0) == 0.0

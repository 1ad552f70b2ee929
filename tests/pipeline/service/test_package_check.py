"""Verification of packages between the other work of the service."""

from catalog.writing.store import Store
from pipeline.service.package_check import IDLE, PackageCheck


def test_a_step_waits_for_a_change_that_is_due_soon() -> None:
    """It could take longer than the change may wait."""
    check, store = PackageCheck(), Store.in_memory()
    assert not check.is_due(0.0, None)
    check.begin(store)
    assert check.due is not None
    now = check.due
    assert check.is_due(now, None)
    assert check.is_due(now, IDLE)
    assert not check.is_due(now, IDLE / 2)
    assert not check.is_due(now + IDLE / 2, None)
    assert check.is_due(now + IDLE, None)
    store.close()

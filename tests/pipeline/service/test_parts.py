"""Verification of packages between the other work of the service."""

import time
from pathlib import Path

import pytest

from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.parts import IDLE, NEVER, Loop, PackageCheck, Work
from pipeline.service.scanning.engines import serial


def test_a_step_waits_for_a_change_that_is_due_soon(tmp_path: Path) -> None:
    """It could take longer than the change may wait."""
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=10 * IDLE)
    store = Store.in_memory()
    work = Work(settings, store, Loop(), engine=serial, is_polling=lambda: False)
    check = PackageCheck(work)
    assert check.seconds_to_next(time.monotonic()) == NEVER
    check.begin()
    now = time.monotonic()
    assert check.seconds_to_next(now) == 0.0
    work.units.hint(str(tmp_path / "root/a"), now)
    assert check.seconds_to_next(now) == 0.0
    soon = now + 9.5 * IDLE
    assert check.seconds_to_next(soon) == pytest.approx(IDLE)
    assert check.seconds_to_next(soon + IDLE / 4) > IDLE / 2
    work.units.due(now + 11 * IDLE)
    store.close()

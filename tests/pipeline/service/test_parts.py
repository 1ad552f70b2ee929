"""Verification of packages between the other work of the service."""

import time
from pathlib import Path

import pytest

from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.parts import NEVER, Loop, PackageCheck, Work
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.skills import write_skill


def test_a_step_waits_for_a_change_that_is_due(tmp_path: Path) -> None:
    """Packages are verified while nothing else is to be done."""
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=1)
    store = Store.in_memory()
    work = Work(settings, store, Loop(), engine=serial, is_polling=lambda: False)
    check = PackageCheck(work)
    assert check.seconds_to_next(time.monotonic()) == NEVER
    check.begin()
    now = time.monotonic()
    assert check.seconds_to_next(now) == 0.0
    work.units.hint(str(tmp_path / "root/a"), now)
    assert check.seconds_to_next(now) == 0.0
    assert check.seconds_to_next(now + 2) == NEVER
    store.close()


def test_a_verification_that_fails_is_tried_again(tmp_path: Path) -> None:
    """So its trouble ends as soon as its cause does, not only after the next full scan."""
    (tmp_path / "root").mkdir()
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=0)
    write_skill(tmp_path / "root/a")
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    work = Work(settings, store, Loop(), engine=serial, is_polling=lambda: False)
    check = PackageCheck(work)
    check.begin()
    packages, aside = settings.packages_folder, tmp_path / "aside"
    packages.rename(aside)
    packages.write_text("in the way")
    with pytest.raises(NotADirectoryError):
        check.step()
    packages.unlink()
    aside.rename(packages)
    assert check.seconds_to_next(time.monotonic()) == 0.0
    check.step()
    assert store.db.execute("SELECT verified_at FROM versions").fetchone()[0]
    store.close()

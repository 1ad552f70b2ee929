"""Full scans, one after another."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.scanning import change_batches
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.engines import serial
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope
from pipeline.service.scans import PendingUnits, ScanRequest, Scans
from pipeline.watch.settling import WatchUnit
from tests.support.records import NOON
from tests.support.skills import SkillWriter


@pytest.fixture
def store() -> Iterator[Store]:
    """Return an empty catalog."""
    made = Store.in_memory()
    yield made
    made.close()


@pytest.fixture
def passes(store: Store, tmp_path: Path, skill: SkillWriter) -> Scans:
    """Return the scans of a root with three skills."""
    for name in "abc":
        skill(tmp_path / "root" / name)
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=0)
    store.roots.configure(settings.root_specs, "rules", NOON)
    units = PendingUnits(settings.root_specs, 0.0, 1.0)
    return Scans(settings, store, units, engine=serial, is_polling=lambda: False)


def scans(store: Store) -> list[tuple[str, int, bool]]:
    """Return trigger, folders seen, and whether it ended, of each scan."""
    return store.db.execute('SELECT "trigger", seen, took_ms IS NOT NULL FROM scans').fetchall()


def test_one_scan_answers_all_earlier_requests(
    passes: Scans, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request made during a scan waits for the next one."""
    monkeypatch.setattr(change_batches, "BATCH", 1)
    assert not passes.is_wanted
    passes.request(ScanRequest("start"))
    passes.request(ScanRequest("re-scan"))
    assert not passes.step()
    passes.request(ScanRequest("command"))
    while not passes.step():
        assert passes.is_running
    assert passes.is_wanted
    while not passes.step():
        pass
    assert not passes.is_wanted
    assert scans(store) == [("start", 3, True), ("command", 3, True)]


def test_a_poll_leaves_a_row_only_if_something_changed(
    passes: Scans, store: Store, tmp_path: Path, skill: SkillWriter
) -> None:
    """Otherwise the table would grow every few seconds; requested scans always have a row."""
    passes.request(ScanRequest("start"))
    assert passes.step()
    for _ in range(3):
        passes.request(ScanRequest("re-scan", is_poll=True))
        assert passes.step()
    assert scans(store) == [("start", 3, True)]
    skill(tmp_path / "root" / "d")
    passes.request(ScanRequest("re-scan", is_poll=True))
    assert passes.step()
    passes.request(ScanRequest("re-scan", is_poll=True))
    passes.request(ScanRequest("re-scan"))
    assert passes.step()
    assert scans(store) == [("start", 3, True), ("re-scan", 4, True), ("re-scan", 4, True)]


def test_a_change_that_an_event_announced_is_not_missed(
    store: Store, tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if it was scanned by itself after a re-scan had read it, or if the whole root waits."""

    def ahead(scope: ScanScope, options: ScanOptions) -> Iterator[ScanResult | None]:
        results = list(serial(scope, options))
        yield None
        yield from results

    monkeypatch.setattr(change_batches, "PAUSE", 0.0)
    root = tmp_path / "root"
    ignoring = root / ".gitignore"
    skill(root / "a")
    skill(root / "new")
    ignoring.write_text("new/\n")
    settings = Settings(watched=root, data=tmp_path / "data", settle_quiet=0)
    store.roots.configure(settings.root_specs, "rules", NOON)
    units = PendingUnits(settings.root_specs, 0.0, 1.0)
    scans = Scans(settings, store, units, engine=ahead, is_polling=lambda: False)

    def scan() -> None:
        while not scans.step():
            pass

    def missed() -> int:
        (count,) = store.db.execute("SELECT missed_by_events FROM health").fetchone()
        return int(count)

    scans.request(ScanRequest("start"))
    scan()
    skill(root / "a", description="The re-scan reads this.")
    scans.request(ScanRequest("re-scan"))
    scans.step()
    skill(root / "a", description="The event announces this.")
    units.hint(str(root / "a/SKILL.md"), time.monotonic() - 1)
    scans.scan_settled(lambda: False)
    scan()
    assert (scans.report.outcomes["updated"], missed()) == (1, 0)
    scans.superseded.clear()
    ignoring.unlink()
    units.hint(str(ignoring), time.monotonic())
    scans.request(ScanRequest("re-scan"))
    scan()
    assert (scans.report.outcomes["added"], missed()) == (1, 0)
    units.due(time.monotonic() + 1)
    units.scanned([WatchUnit(str(root), "")], Report())
    skill(root / "a", description="Nobody announces this.")
    scans.request(ScanRequest("re-scan"))
    scan()
    assert missed() == 1


def test_a_failed_scan_is_repeated(
    passes: Scans, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example after a full disk, once it has room again."""
    passes.request(ScanRequest("start"))
    with monkeypatch.context() as full:
        full.setattr(Store, "apply", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            passes.step()
    assert passes.is_wanted
    while not passes.step():
        pass
    assert scans(store) == [("start", 0, False), ("re-scan", 3, True)]


def test_the_trouble_of_a_root_is_logged_once_until_it_is_over(
    passes: Scans, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged again if it comes back."""

    def scan() -> None:
        passes.request(ScanRequest("re-scan"))
        while not passes.step():
            pass

    root, away = tmp_path / "root", tmp_path / "away"
    for is_gone in (True, True, False, True):
        if is_gone and root.exists():
            root.rename(away)
        elif not is_gone:
            away.rename(root)
        scan()
    (message,) = set(caplog.messages)
    assert (caplog.messages.count(message), str(root) in message) == (2, True)


def test_a_scan_can_be_stopped_in_between(
    passes: Scans, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that it has stored is complete."""
    monkeypatch.setattr(change_batches, "BATCH", 1)
    passes.request(ScanRequest("start"))
    passes.step()
    passes.stop()
    assert not passes.is_wanted
    assert store.db.execute("SELECT path FROM skills").fetchall() == [("a",)]

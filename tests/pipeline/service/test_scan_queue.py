"""Full scans, one after another."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from catalog.model.skill import RootSpec
from catalog.writing.store import Store
from pipeline.roots.local.folder import Limits
from pipeline.service.scan_queue import ScanQueue, ScanRequest
from pipeline.service.scanning import change_batches
from pipeline.service.scanning.full_scan import FullScan
from tests.support.records import NOON
from tests.support.skills import SkillWriter


@pytest.fixture
def store() -> Iterator[Store]:
    """Return an empty catalog."""
    made = Store.in_memory()
    yield made
    made.close()


@pytest.fixture
def passes(store: Store, tmp_path: Path, skill: SkillWriter) -> ScanQueue:
    """Return the scan queue of a root with three skills."""
    for name in "abc":
        skill(tmp_path / "root" / name)
    roots = [RootSpec(str(tmp_path / "root"))]
    store.roots.configure(roots, "rules", NOON)

    def new_scan(requests: Sequence[ScanRequest]) -> FullScan:
        return FullScan(
            store,
            roots,
            Limits(),
            quiet=0.0,
            trigger=requests[0].trigger,
            is_poll=all(request.is_poll for request in requests),
        )

    return ScanQueue(new_scan)


def scans(store: Store) -> list[tuple[str, int, bool]]:
    """Return trigger, folders seen, and whether it ended, of each scan."""
    return store.db.execute('SELECT "trigger", seen, took_ms IS NOT NULL FROM scans').fetchall()


def test_one_scan_answers_all_earlier_requests(
    passes: ScanQueue, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request made during a scan waits for the next one."""
    monkeypatch.setattr(change_batches, "BATCH", 1)
    assert not passes.is_wanted
    passes.request("start")
    passes.request("re-scan")
    assert not passes.step()[1]
    passes.request("command")
    while not passes.step()[1]:
        assert passes.is_running
    assert passes.is_wanted
    while not passes.step()[1]:
        pass
    assert not passes.is_wanted
    assert scans(store) == [("start", 3, True), ("command", 3, True)]


def test_a_poll_leaves_a_row_only_if_something_changed(
    passes: ScanQueue, store: Store, tmp_path: Path, skill: SkillWriter
) -> None:
    """Otherwise the table would grow every few seconds; requested scans always have a row."""
    passes.request("start")
    assert passes.step()[1]
    for _ in range(3):
        passes.request("re-scan", is_poll=True)
        assert passes.step()[1]
    assert scans(store) == [("start", 3, True)]
    skill(tmp_path / "root" / "d")
    passes.request("re-scan", is_poll=True)
    assert passes.step()[1]
    passes.request("re-scan", is_poll=True)
    passes.request("re-scan")
    assert passes.step()[1]
    assert scans(store) == [("start", 3, True), ("re-scan", 4, True), ("re-scan", 4, True)]


def test_a_failed_scan_is_repeated(
    passes: ScanQueue, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example after a full disk, once it has room again."""
    passes.request("start")
    with monkeypatch.context() as full:
        full.setattr(Store, "apply", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            passes.step()
    assert passes.is_wanted
    while not passes.step()[1]:
        pass
    assert scans(store) == [("start", 0, False), ("re-scan", 3, True)]


def test_a_scan_can_be_stopped_in_between(
    passes: ScanQueue, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that it has stored is complete."""
    monkeypatch.setattr(change_batches, "BATCH", 1)
    passes.request("start")
    passes.step()
    passes.stop()
    assert not passes.is_wanted
    assert store.db.execute("SELECT path FROM skills").fetchall() == [("a",)]

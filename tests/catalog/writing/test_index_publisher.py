"""Publication of index files."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catalog.prompt_index import files
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted

SPECS = (IndexSpec(), IndexSpec("small", "xml", budget_chars=200, overflow="exclude"))
LATER = NOON + timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a catalog with two skills and two configured indexes."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    store.indexes.configure(SPECS)
    store.apply([judged("a"), judged("b")], trigger="command", at=NOON)
    yield store
    store.close()


def test_only_new_texts_are_published(store: Store, tmp_path: Path) -> None:
    """The same catalog gives the same bytes, including the time of publication."""
    folder = tmp_path / "index"
    assert store.publish_indexes(SPECS, folder, NOON) == ["default", "small"]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert store.publish_indexes(SPECS, folder, LATER) == []
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    store.apply([judged("c")], trigger="command", at=LATER)
    assert store.publish_indexes(SPECS, folder, LATER) == ["default"]
    report = json.loads((folder / "small.meta.json").read_text())
    assert (report["left_out"], report["published_at"][:13]) == (2, "2026-11-20T13")


@pytest.mark.parametrize("harm", ["lost", "damaged", "report lost"])
def test_a_file_that_was_lost_or_damaged_is_written_again(
    store: Store, tmp_path: Path, harm: str
) -> None:
    """The file itself is compared, not the catalog's record of it."""
    folder = tmp_path / "index"
    store.publish_indexes(SPECS, folder, NOON)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    if harm == "damaged":
        (folder / "default.txt").write_text("junk")
    else:
        (folder / ("default.txt" if harm == "lost" else "default.meta.json")).unlink()
    store.publish_indexes(SPECS, folder, LATER)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_failed_write_is_repeated(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unwritten text does not count as published."""
    folder = tmp_path / "index"
    store.publish_indexes(SPECS, folder, NOON)
    store.apply([judged("c")], trigger="command", at=LATER)

    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "sync", full)
        with pytest.raises(OSError, match="No space"):
            store.publish_indexes(SPECS, folder, LATER)
    assert store.publish_indexes(SPECS, folder, LATER) == ["default"]
    assert "\nc (" in (folder / "default.txt").read_text()

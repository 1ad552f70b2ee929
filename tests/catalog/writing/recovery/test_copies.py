"""Retention of damaged catalogs beside a new one."""

from datetime import timedelta
from pathlib import Path

import pytest

from catalog.writing.store import Store
from tests.support.records import NOON


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an existing catalog."""
    path = tmp_path / "catalog.db"
    Store.open(path).close()
    return path


def aside(path: Path, *names: str) -> None:
    """Create files beside a catalog with the names of damaged ones."""
    for name in names:
        path.with_name(f"catalog.db.damaged-{name}").touch()


def left(path: Path) -> set[str]:
    """Return the suffixes of files with the names of damaged catalogs."""
    return {
        file.name.removeprefix("catalog.db.damaged-")
        for file in path.parent.glob("catalog.db.damaged-*")
    }


def recover(path: Path, days: int = 0) -> None:
    """Recover the catalog as damaged, some days after noon on 2026-11-20."""
    Store.open(path, NOON + timedelta(days=days), damage="It was found out.").close()


def test_the_newest_few_stay_and_the_log_names_the_others(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A log is removed with its catalog; a number orders copies of the same second."""
    aside(
        path,
        "20261101-120000",
        "20261101-120000-wal",
        "20261101-120000-shm",
        *(f"20261102-120000{count}" for count in ("", "-2", "-9", "-10", "-10-wal")),
    )
    recover(path)
    assert {name for name in left(path) if name.startswith("202611")} == {
        "20261102-120000-9",
        "20261102-120000-10",
        "20261102-120000-10-wal",
        *(name for name in left(path) if name.startswith("20261120-120000")),
    }
    assert caplog.text.count("only the newest 3 damaged catalogs are kept") == 3
    assert f"removed {path}.damaged-20261101-120000:" in caplog.text


def test_the_latest_copy_stays_despite_a_wrong_clock(path: Path) -> None:
    """The clock may have been set back."""
    aside(path, *(f"20270{month}01-120000" for month in range(1, 6)))
    recover(path)
    assert {"20261120-120000", "20270401-120000", "20270501-120000"} <= left(path)
    assert not {"20270101-120000", "20270201-120000", "20270301-120000"} & left(path)


def test_other_files_with_similar_names_stay(path: Path) -> None:
    """Copies under other names, folders and links are foreign."""
    foreign = {"20000101-120000.gz", "20000101-120000-copy", "by-me"}
    aside(path, *foreign)
    path.with_name("catalog.db.damaged-20000102-120000").mkdir()
    path.with_name("catalog.db.damaged-20000103-120000").symlink_to(path)
    for day in range(5):
        recover(path, day)
    assert {*foreign, "20000102-120000", "20000103-120000"} <= left(path)
    assert len([name for name in left(path) if name.endswith("-120000")]) == 5

"""Which damaged catalogs stay beside a new one."""

from datetime import timedelta
from pathlib import Path

import pytest

from catalog.writing.store import Store
from tests.support.records import NOON


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a catalog that has been written."""
    path = tmp_path / "catalog.db"
    Store.open(path).close()
    return path


def aside(path: Path, *names: str) -> None:
    """Put files beside a catalog that are called as damaged ones."""
    for name in names:
        path.with_name(f"catalog.db.damaged-{name}").touch()


def left(path: Path) -> set[str]:
    """Return what is called as a damaged catalog."""
    return {
        file.name.removeprefix("catalog.db.damaged-")
        for file in path.parent.glob("catalog.db.damaged-*")
    }


def make_anew(path: Path, days: int = 0) -> None:
    """Find the catalog damaged, some days after noon on 2026-11-20."""
    Store.open(path, NOON + timedelta(days=days), damage="It was found out.").close()


def test_the_newest_few_stay_and_the_log_says_which_go(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A log goes with its catalog, and those of one second are told by their number."""
    aside(
        path,
        "20261101-120000",
        "20261101-120000-wal",
        "20261101-120000-shm",
        *(f"20261102-120000{count}" for count in ("", "-2", "-9", "-10", "-10-wal")),
    )
    make_anew(path)
    assert {name for name in left(path) if name.startswith("202611")} == {
        "20261102-120000-9",
        "20261102-120000-10",
        "20261102-120000-10-wal",
        *(name for name in left(path) if name.startswith("20261120-120000")),
    }
    assert caplog.text.count("only the newest 3 damaged catalogs are kept") == 3
    assert f"removed {path}.damaged-20261101-120000:" in caplog.text


def test_the_one_that_is_damaged_now_stays_whatever_the_clock_says(path: Path) -> None:
    """It may have been set back."""
    aside(path, *(f"20270{month}01-120000" for month in range(1, 6)))
    make_anew(path)
    assert {"20261120-120000", "20270401-120000", "20270501-120000"} <= left(path)
    assert not {"20270101-120000", "20270201-120000", "20270301-120000"} & left(path)


def test_what_is_only_called_alike_stays(path: Path) -> None:
    """Copies under other names, folders and links are not ours."""
    foreign = {"20000101-120000.gz", "20000101-120000-copy", "by-me"}
    aside(path, *foreign)
    path.with_name("catalog.db.damaged-20000102-120000").mkdir()
    path.with_name("catalog.db.damaged-20000103-120000").symlink_to(path)
    for day in range(5):
        make_anew(path, day)
    assert {*foreign, "20000102-120000", "20000103-120000"} <= left(path)
    assert len([name for name in left(path) if name.endswith("-120000")]) == 5

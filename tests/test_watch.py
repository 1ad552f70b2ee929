"""Path hints from real events of a real directory."""

import logging
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from pipeline.watch import Watch

PATIENCE = 20.0


class Heard:
    """A watch on a root, and what it has hinted."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.root = root
        self.hints: SimpleQueue[str] = SimpleQueue()
        self.watch = Watch([str(root)], self.hints.put)
        self.watch.start()

    def hears(self, path: Path) -> bool:
        """Wait until a path is hinted; raises Empty if it never is."""
        while self.hints.get(timeout=PATIENCE) != str(path):
            pass
        return True


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[Heard]:
    """Return a watch that listens."""
    made = Heard(tmp_path / "root")
    yield made
    made.watch.stop()


def test_every_kind_of_change_is_hinted(heard: Heard, tmp_path: Path) -> None:
    """Written, made executable, moved in, renamed and deleted, each by the path to look at."""
    file = heard.root / "a" / "SKILL.md"
    file.parent.mkdir()
    assert heard.hears(file.parent)
    file.write_text("x")
    assert heard.hears(file)
    file.chmod(0o755)
    assert heard.hears(file)
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.rename(heard.root / "b")
    assert heard.hears(heard.root / "b")
    (heard.root / "b").rename(heard.root / "c")
    assert heard.hears(heard.root / "c")
    file.unlink()
    assert heard.hears(file)


def test_reading_is_not_hinted(heard: Heard) -> None:
    """Our own reading must not wake us."""
    file = heard.root / "file"
    file.write_text("x")
    mark = heard.root / "mark"
    assert heard.hears(file)
    file.read_text()
    list(heard.root.iterdir())
    mark.mkdir()
    assert heard.hears(mark)
    rest = []
    while not heard.hints.empty():
        rest.append(heard.hints.get())
    assert str(file) not in rest


def test_a_quiet_watch_raises_no_doubt(heard: Heard) -> None:
    """Nothing is wrong while nothing is wrong."""
    assert heard.watch.doubt() is None


def test_an_overflow_raises_doubt(heard: Heard) -> None:
    """The only trace of lost events is a warning in watchdog's log."""
    logging.getLogger("watchdog.observers.inotify_c").warning(
        "Inotify queue overflowed; filesystem events were lost")
    assert heard.watch.doubt() == "the event queue overflowed"


def test_a_root_that_was_replaced_raises_doubt(heard: Heard) -> None:
    """The new directory at the old path is not the one that is listened to."""
    heard.root.rmdir()
    heard.root.mkdir()
    (heard.root / "x").mkdir()
    assert "replaced" in (heard.watch.doubt() or "") or "died" in (heard.watch.doubt() or "")


def test_a_missing_root_is_doubted_once_it_is_there(tmp_path: Path) -> None:
    """A share that is mounted later is noticed."""
    watch = Watch([str(tmp_path / "later")], lambda _: None)
    watch.start()
    assert watch.doubt() is None
    (tmp_path / "later").mkdir()
    assert "replaced" in (watch.doubt() or "")
    watch.stop()

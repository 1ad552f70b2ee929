"""Path hints from real events of a real directory."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest
from conftest import overflow, wait_for

from pipeline import watch
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
    """The system says once that its queue was full, and nothing more is believed."""
    observer = heard.watch._observer
    assert observer
    with observer.inotify._lock:  # its thread cannot read while the queue fills up
        overflow(heard.root)
    wait_for(lambda: heard.watch.doubt() == "the event queue overflowed")


def test_a_root_that_was_replaced_raises_doubt(heard: Heard) -> None:
    """The new directory at the old path is not the one that is listened to."""
    heard.root.rename(heard.root.with_name("old"))
    heard.root.mkdir()
    assert heard.watch.doubt() == f"the root {heard.root} was replaced"


def test_a_root_that_went_and_came_back_at_once_raises_doubt(heard: Heard) -> None:
    """The new directory may even have the inode of the old one."""
    heard.root.rmdir()
    heard.root.mkdir()
    wait_for(heard.watch.doubt)
    assert "root" in str(heard.watch.doubt())


def test_a_root_that_is_gone_raises_doubt(heard: Heard) -> None:
    """Renaming it away is no event that watchdog tells."""
    heard.root.rename(heard.root.with_name("away"))
    assert heard.watch.doubt() == f"the root {heard.root} is gone"


def test_a_handler_that_fails_raises_doubt_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The thread it ended is missed, and its error named."""

    def stumble(path: str) -> None:
        raise KeyError(path)

    watch = Watch([str(tmp_path)], stumble)
    watch.start()
    (tmp_path / "x").mkdir()
    wait_for(watch.doubt)
    assert "a watching thread ended: KeyError" in str(watch.doubt())
    watch.stop()
    assert capfd.readouterr().err == ""


def test_the_death_of_the_thread_that_reads_raises_doubt(heard: Heard) -> None:
    """The observer itself stays alive and says nothing."""
    observer = heard.watch._observer
    assert observer
    observer.inotify.stop()
    wait_for(heard.watch.doubt)
    assert observer.is_alive()


def test_a_directory_exchanged_as_it_stops_costs_nothing(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where watchdog has two directories under one name, all the same every thread ends."""
    tripped: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", tripped.append)
    for name in "ab":
        (heard.root / name).mkdir()
    wait_for(lambda: heard.watch.deaf() == 0)
    observer = heard.watch._observer
    assert observer
    emitter, = observer.emitters
    names = next(group for group in vars(emitter._inotify).values()  # type: ignore[attr-defined]
                 if isinstance(group, dict) and os.fsencode(heard.root / "a") in group)
    del names[os.fsencode(heard.root / "a")]
    heard.watch.stop()
    wait_for(lambda: not observer.inotify.is_alive())
    assert not tripped


def test_a_very_deep_tree_that_is_moved_in_costs_the_rest_nothing(
    heard: Heard, deep_tree: Path
) -> None:
    """Either it is survived, or there is doubt; below the deepest skill nothing is listened to."""
    observer = heard.watch._observer
    assert observer
    deep_tree.rename(heard.root / "deep")
    wait_for(lambda: heard.watch.doubt() or heard.watch.deaf() == 0)
    assert observer.inotify.watched <= 33


def test_what_can_hold_no_skill_is_not_listened_to(heard: Heard) -> None:
    """A watch is a scarce thing, and a package folder has thousands of directories."""
    for path in ("node_modules/a/b", ".git/objects", "skill/scripts"):
        (heard.root / path).mkdir(parents=True)
    assert heard.hears(heard.root / "skill" / "scripts")
    observer = heard.watch._observer
    assert observer
    wait_for(lambda: observer.inotify.watched == 3)
    assert heard.watch.deaf() == 0


def test_directories_that_nothing_listens_to_are_counted(heard: Heard) -> None:
    """Those that watchdog has missed in a race are found by counting."""
    observer = heard.watch._observer
    assert observer
    with observer.inotify._lock:
        (heard.root / "a" / "b").mkdir(parents=True)
        assert heard.watch.deaf() == 2
    wait_for(lambda: heard.watch.deaf() == 0)


def test_a_missing_root_is_doubted_once_it_is_there(tmp_path: Path) -> None:
    """A share that is mounted later is noticed."""
    watch = Watch([str(tmp_path / "later")], lambda _: None)
    watch.start()
    assert watch.doubt() is None
    (tmp_path / "later").mkdir()
    assert "replaced" in (watch.doubt() or "")
    watch.stop()


def test_no_directory_is_watched_where_not_all_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a watch would be deaf, and take memory for nothing."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / ".git/objects").mkdir(parents=True)  # not worth watching
    watching = Watch([str(tmp_path)], lambda _: None)
    monkeypatch.setattr(watch, "_most_watches", lambda: 2)
    with pytest.raises(OSError, match="more directories than the system will watch"):
        watching.start()
    assert watching.doubt()
    monkeypatch.setattr(watch, "_most_watches", lambda: 3)
    watching.start()
    try:
        assert (watching.doubt(), watching.deaf()) == (None, 0)
    finally:
        watching.stop()

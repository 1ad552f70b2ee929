"""Path hints from real events of a real directory."""

import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from watchdog.observers.inotify_c import InotifyFD

from pipeline.watch import inotify as watch_inotify
from pipeline.watch import observer as watch_observer
from pipeline.watch.observer import Watch
from tests.support.waiting import PATIENCE, overflow, wait_for


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


def test_the_permissions_of_a_directory_are_hinted(heard: Heard) -> None:
    """Whether they are taken away or given back: what it holds is then to be looked at."""
    folder = heard.root / "a"
    folder.mkdir()
    assert heard.hears(folder)
    for mode in (0o000, 0o755):
        while not heard.hints.empty():
            heard.hints.get()
        folder.chmod(mode)
        assert heard.hears(folder)


def test_a_directory_that_can_be_read_again_may_not_be_listened_to(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system refused to listen to it, the directories are counted after a change.

    Not every system does (inotify_add_watch(2), EACCES), so it is told here to do so.
    """
    listen = InotifyFD.add_callback

    def refused(self: InotifyFD, path: bytes, *rest: Any) -> Any:
        if path.endswith(b"/a"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listen(self, path, *rest)

    heard.watch.stop()
    (heard.root / "a").mkdir()
    monkeypatch.setattr(InotifyFD, "add_callback", refused)
    heard.watch.start()
    assert not heard.watch.may_be_deaf
    (heard.root / "a").chmod(0o700)
    assert heard.hears(heard.root / "a")
    assert heard.watch.may_be_deaf
    assert heard.watch.deaf() == 1


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
    (emitter,) = observer.emitters
    names = next(
        group
        for group in vars(emitter._inotify).values()  # type: ignore[attr-defined]
        if isinstance(group, dict) and os.fsencode(heard.root / "a") in group
    )
    del names[os.fsencode(heard.root / "a")]
    heard.watch.stop()
    wait_for(lambda: not observer.inotify.is_alive())
    assert not tripped


def ours() -> set[threading.Thread]:
    """Return the threads that there are."""
    return set(threading.enumerate())


def descriptors() -> int:
    """Return how many files and pipes are open."""
    return len(os.listdir("/proc/self/fd"))


def churn(root: Path, may_end: threading.Event) -> None:
    """Exchange, rename and delete directories, over which watchdog loses count of its names."""
    while not may_end.is_set():
        with suppress(OSError):
            for name in ("a/x", "b/x", "c"):
                (root / name).mkdir(parents=True, exist_ok=True)
            (root / "c").rename(root / "b/x")
            (root / "b").rename(root / "d")
            (root / "a").rename(root / "b")
            (root / "d").rename(root / "a")
            shutil.rmtree(root / "b")


def test_an_ended_watch_leaves_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    """However often one is ended while directories come and go, also by an error of watchdog's."""
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    may_end = threading.Event()
    churning = [threading.Thread(target=churn, args=(root, may_end)) for root in roots]
    for thread in churning:
        thread.start()
    before, open_before = ours(), descriptors()
    try:
        for number in range(15):
            watch = Watch([str(root) for root in roots], lambda _: None)
            watch.start()
            observer = watch._observer
            assert observer
            if number % 3 == 1:  # as when two directories are under one name
                for emitter in observer.emitters:
                    emitter._inotify._active_callbacks_by_path.clear()  # type: ignore[attr-defined]
            if number % 3 == 2:
                time.sleep(0.05)  # into the midst of the events
            watch.stop()
        wait_for(lambda: ours() <= before)
    finally:
        may_end.set()
        for thread in churning:
            thread.join()
    assert descriptors() <= open_before


def test_a_watch_that_was_never_started_leaves_no_descriptor(tmp_path: Path) -> None:
    """As where a directory cannot be listened to, or the system allows no more threads."""
    before = descriptors()
    for _ in range(3):
        watching = Watch([str(tmp_path)], lambda _: None)
        with pytest.MonkeyPatch.context() as refused:
            refused.setattr(watch_inotify._Inotify, "add_callback", refuse)
            with pytest.raises(OSError, match="no more"):
                watching.start()
    wait_for(lambda: descriptors() <= before)


def refuse(*_: object) -> None:
    """Refuse to watch a directory."""
    raise OSError(28, "no more")


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
    monkeypatch.setattr(watch_observer, "_most_watches", lambda: 2)
    with pytest.raises(OSError, match="more directories than the system will watch"):
        watching.start()
    assert watching.doubt()
    monkeypatch.setattr(watch_observer, "_most_watches", lambda: 3)
    watching.start()
    try:
        assert (watching.doubt(), watching.deaf()) == (None, 0)
    finally:
        watching.stop()

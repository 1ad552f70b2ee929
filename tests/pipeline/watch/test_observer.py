"""Path hints from real events of a real directory."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from watchdog.observers.inotify_c import InotifyFD

from catalog.filesystem.operations import exchange_names
from pipeline.watch import observer as watch_observer
from pipeline.watch.observer import (
    EXCHANGED,
    OVERFLOWED,
    Watch,
    WatchFault,
)
from tests.support.waiting import PATIENCE, overflow, wait_for
from tests.support.watching import delayed_events, running_reader, running_readers


class Heard:
    """Watch over a root, with its hints."""

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
    """Return a running watch."""
    made = Heard(tmp_path / "root")
    yield made
    made.watch.stop()


def test_every_kind_of_change_is_hinted(heard: Heard, tmp_path: Path) -> None:
    """Written, made executable, moved in, renamed and deleted: each hints the path to read."""
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
    """Whether they are removed or restored: its contents must be read again."""
    folder = heard.root / "a"
    folder.mkdir()
    assert heard.hears(folder)
    for mode in (0o000, 0o755):
        while not heard.hints.empty():
            heard.hints.get()
        folder.chmod(mode)
        assert heard.hears(folder)


def test_reading_is_not_hinted(heard: Heard) -> None:
    """Our own reading must not wake the service."""
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


def test_a_quiet_watch_has_no_fault(heard: Heard) -> None:
    """A watch that works reports nothing."""
    assert heard.watch.fault() is None


def test_an_overflow_is_a_fault(heard: Heard) -> None:
    """The system reports once that its queue was full; later events are ignored."""
    with delayed_events():  # no event is read while the queue fills up
        overflow(heard.root)
    wait_for(lambda: heard.watch.fault() == OVERFLOWED)


@pytest.mark.parametrize("is_removed", [True, False])
def test_an_exchange_of_two_folders_is_a_fault_of_its_own(heard: Heard, is_removed: bool) -> None:
    """Later changes would be hinted below the wrong name, and a removal would end the thread."""
    for name in ("one", "other"):
        (heard.root / name / "scripts").mkdir(parents=True)
        assert heard.hears(heard.root / name)
    wait_for(lambda: heard.watch.count_unwatched() == 0)
    exchange_names(heard.root / "one", heard.root / "other")
    if is_removed:
        shutil.rmtree(heard.root / "one")
    wait_for(lambda: heard.watch.fault() == EXCHANGED)


def test_a_folder_that_was_renamed_there_and_back_is_no_fault(heard: Heard) -> None:
    """Its later changes are heard; nothing is read again for it."""
    (heard.root / "one").mkdir()
    assert heard.hears(heard.root / "one")
    wait_for(lambda: heard.watch.count_unwatched() == 0)
    (heard.root / "one").rename(heard.root / "other")
    (heard.root / "other").rename(heard.root / "one")
    assert heard.hears(heard.root / "one")
    assert heard.watch.fault() is None


def test_a_root_that_was_replaced_is_a_fault(heard: Heard) -> None:
    """The new directory at the old path is not the watched one."""
    heard.root.rename(heard.root.with_name("old"))
    heard.root.mkdir()
    assert heard.watch.fault() == WatchFault(f"the root {heard.root} was replaced", False)


def test_a_root_that_went_and_came_back_at_once_is_a_fault(heard: Heard) -> None:
    """The new directory may even have the inode of the old one."""
    heard.root.rmdir()
    heard.root.mkdir()
    wait_for(heard.watch.fault)
    fault = heard.watch.fault()
    assert fault
    assert fault.message.startswith(f"the root {heard.root}")


def test_a_root_that_is_gone_is_a_fault(heard: Heard) -> None:
    """Its renaming is an event that watchdog does not report."""
    heard.root.rename(heard.root.with_name("away"))
    assert heard.watch.fault() == WatchFault(f"the root {heard.root} is gone", False)


def test_a_handler_that_fails_is_a_fault_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The end of the thread is noticed, and its error named."""

    def stumble(path: str) -> None:
        raise KeyError(path)

    watch = Watch([str(tmp_path)], stumble)
    watch.start()
    (tmp_path / "x").mkdir()
    wait_for(watch.fault)
    fault = watch.fault()
    assert fault
    assert fault.message.startswith("a watch thread ended: KeyError")
    watch.stop()
    assert capfd.readouterr().err == ""


def test_the_death_of_the_thread_that_reads_is_a_fault(heard: Heard) -> None:
    """The observer itself stays alive and reports nothing."""
    running_reader().stop()
    wait_for(heard.watch.fault)
    assert heard.watch.fault() == WatchFault("a watch thread ended")


def threads() -> set[threading.Thread]:
    """Return all threads."""
    return set(threading.enumerate())


def descriptors() -> int:
    """Return the number of open files and pipes."""
    return len(os.listdir("/proc/self/fd"))


def churn(root: Path, may_end: threading.Event) -> None:
    """Exchange, rename and delete directories, which are gone before they can be watched."""
    while not may_end.is_set():
        with suppress(OSError):
            for name in ("a/x", "b/x", "c"):
                (root / name).mkdir(parents=True, exist_ok=True)
            (root / "c").rename(root / "b/x")
            (root / "b").rename(root / "d")
            (root / "a").rename(root / "b")
            (root / "d").rename(root / "a")
            shutil.rmtree(root / "b")


def has_shown_life(watch: Watch, hints: SimpleQueue[str]) -> bool:
    """Return whether a watch has given a hint, or found a fault."""
    return not hints.empty() or watch.fault() is not None


def test_an_ended_watch_leaves_no_thread_and_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if directories come and go meanwhile, or an error of watchdog ends it."""
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    may_end = threading.Event()
    churning = [threading.Thread(target=churn, args=(root, may_end)) for root in roots]
    for thread in churning:
        thread.start()
    before, open_before = threads(), descriptors()
    try:
        for number in range(15):
            hints: SimpleQueue[str] = SimpleQueue()
            watch = Watch([str(root) for root in roots], hints.put)
            watch.start()
            if number % 3 == 1:
                for reader in running_readers():  # it may have ended already
                    monkeypatch.setattr(reader, "handle_event", fail)
            if number % 3 == 2:
                wait_for(partial(has_shown_life, watch, hints))
            watch.stop()
        wait_for(lambda: threads() <= before)
    finally:
        may_end.set()
        for thread in churning:
            thread.join()
    assert descriptors() <= open_before


def test_an_error_while_a_watch_starts_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader ends between two roots; the second is still added to the watch, and to no file."""
    roots = [str(tmp_path / name) for name in ("one", "two")]
    for root in roots:
        Path(root).mkdir()
    add, added = InotifyFD.add_callback, list[bytes]()

    def add_after_the_end(self: InotifyFD, path: bytes, *rest: Any) -> Any:
        if added:
            Path(os.fsdecode(added[0]), "new").mkdir()  # its event ends the reader
            wait_for(lambda: not self.is_alive())
        added.append(path)
        return add(self, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", add_after_the_end)
    monkeypatch.setattr(InotifyFD, "handle_event", fail)
    before = descriptors()
    watch = Watch(roots, lambda _: None)
    watch.start()
    fault = watch.fault()
    assert fault
    assert fault.message.startswith("a watch thread ended")
    watch.stop()
    assert descriptors() == before


def fail(*_: object) -> None:
    """Fail as an error of watchdog does."""
    raise KeyError


def test_a_watch_that_was_never_started_leaves_no_descriptor(tmp_path: Path) -> None:
    """For example if a directory cannot be watched, or no more threads can be started."""
    before = descriptors()
    for _ in range(3):
        watching = Watch([str(tmp_path)], lambda _: None)
        with pytest.MonkeyPatch.context() as refused:
            refused.setattr(InotifyFD, "add_callback", refuse)
            with pytest.raises(OSError, match="no more"):
                watching.start()
    wait_for(lambda: descriptors() <= before)


def refuse(*_: object) -> None:
    """Refuse to watch a directory."""
    raise OSError(28, "no more")


def test_a_very_deep_tree_does_not_end_the_watch_silently(heard: Heard, deep_tree: Path) -> None:
    """The watch survives it or has a fault."""
    deep_tree.rename(heard.root / "deep")
    wait_for(lambda: heard.watch.fault() or heard.watch.count_unwatched() == 0)


def test_directories_that_can_hold_no_skill_are_not_hinted(heard: Heard) -> None:
    """Package managers and git change thousands of files in theirs."""
    for path in ("node_modules/a/b", ".git/objects", "skill/scripts"):
        (heard.root / path).mkdir(parents=True)
    (heard.root / ".git/objects/x").touch()
    (heard.root / "last").touch()
    hints: list[str] = []
    while not hints or hints[-1] != str(heard.root / "last"):
        hints.append(heard.hints.get(timeout=PATIENCE))
    assert str(heard.root / "skill/scripts") in hints
    assert not [hint for hint in hints if "/.git/" in hint or "/node_modules/" in hint]


def test_unwatched_directories_are_counted(heard: Heard) -> None:
    """Counting finds those that watchdog missed in a race."""
    with delayed_events():
        (heard.root / "a" / "b").mkdir(parents=True)
        assert heard.watch.count_unwatched() == 2
    wait_for(lambda: heard.watch.count_unwatched() == 0)


def test_a_directory_whose_events_come_late_may_be_unwatched(heard: Heard) -> None:
    """The event of the first one finds the second under its name; the first has another by then."""
    with delayed_events():
        (heard.root / "a").mkdir()
        (heard.root / "a").rename(heard.root / "b")
        (heard.root / "a").mkdir()
    assert heard.hears(heard.root / "b")
    wait_for(lambda: heard.watch.count_unwatched() == 1)


def test_a_missing_root_is_a_fault_once_it_exists(tmp_path: Path) -> None:
    """A share that is mounted later is noticed."""
    watch = Watch([str(tmp_path / "later")], lambda _: None)
    watch.start()
    assert watch.fault() is None
    (tmp_path / "later").mkdir()
    fault = watch.fault()
    assert fault
    assert fault.message.endswith("was replaced")
    watch.stop()


def test_no_directory_is_watched_where_not_all_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partial watch would miss events, and take memory for nothing."""
    (tmp_path / "a/b").mkdir(parents=True)
    watching = Watch([str(tmp_path)], lambda _: None)
    monkeypatch.setattr(watch_observer, "watch_limit", lambda: 2)
    with pytest.raises(OSError, match="more directories than the system will watch"):
        watching.start()
    assert watching.fault()
    monkeypatch.setattr(watch_observer, "watch_limit", lambda: 3)
    watching.start()
    try:
        assert (watching.fault(), watching.count_unwatched()) == (None, 0)
    finally:
        watching.stop()

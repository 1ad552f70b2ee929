"""Whether events are relied on, decided over a real watch with passed-in time."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers.inotify_c import InotifyEvent

from pipeline.watch import supervisor
from pipeline.watch.supervisor import RETRY, TROUBLES, WatchSupervisor
from tests.support.waiting import wait_for


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[WatchSupervisor]:
    """Return supervision of a root, begun at second 0."""
    made = WatchSupervisor([str(tmp_path)], lambda _: None, poll_every=10.0, depth=32)
    assert made.begin(0.0).mode == "native"
    yield made
    made.stop()


def end_reading(supervised: WatchSupervisor) -> None:
    """End the thread that reads what the system says, and wait until that can be seen."""
    observer = supervised._watch._observer
    assert observer
    observer.inotify.stop()
    observer.inotify.join()


def test_a_quiet_watch_is_left_alone(supervised: WatchSupervisor) -> None:
    """No turn, no polling."""
    assert supervised.check(1.0) is None
    assert supervised.check_all_heard(1.0) is None
    assert not supervised.polls(1e9)
    assert supervised.seconds_to_poll(1.0) is None


def test_a_dead_thread_brings_a_new_observer(supervised: WatchSupervisor) -> None:
    """And everything is to be looked at, as events were lost."""
    end_reading(supervised)
    turn = supervised.check(1.0)
    assert turn
    assert (turn.mode, turn.reason) == ("native", "a watching thread ended")
    assert supervised.check(2.0) is None


def test_repeated_trouble_means_polling_until_events_work_again(
    supervised: WatchSupervisor,
) -> None:
    """Three in a minute; then it is tried again, and works."""
    for second in range(TROUBLES):
        end_reading(supervised)
        turn = supervised.check(float(second))
    assert turn
    assert turn.mode == "polling"
    assert supervised.check(TROUBLES + RETRY - 2) is None
    turn = supervised.check(TROUBLES + RETRY)
    assert turn
    assert (turn.mode, turn.reason) == ("native", "events are tried again")


def test_trouble_now_and_then_is_no_reason_to_poll(supervised: WatchSupervisor) -> None:
    """One an hour is mended each time."""
    for hour in range(1, 6):
        end_reading(supervised)
        turn = supervised.check(hour * 3600.0)
        assert turn
        assert turn.mode == "native"


def test_a_root_that_comes_and_goes_is_no_fault_of_the_watch(
    supervised: WatchSupervisor, tmp_path: Path
) -> None:
    """However often: it is missed and welcomed at once."""
    away = tmp_path.with_name(f"{tmp_path.name}-away")
    for second in range(4):
        tmp_path.rename(away)
        gone = supervised.check(second + 0.3)
        away.rename(tmp_path)
        back = supervised.check(second + 0.6)
        assert gone
        assert back
        assert (gone.mode, gone.reason) == ("native", f"the root {tmp_path} is gone")
        assert (back.mode, back.reason) == ("native", f"the root {tmp_path} was replaced")


def test_a_deaf_directory_is_believed_when_it_is_seen_twice(
    supervised: WatchSupervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has just come may not have been heard of yet."""
    observer = supervised._watch._observer
    assert observer
    handle, passed_over = observer.inotify.handle_event, threading.Event()

    def handling(event: InotifyEvent) -> None:
        handle(event)
        passed_over.set()

    monkeypatch.setattr(observer.inotify, "handle_event", handling)
    observer.inotify.has_overflowed = True  # from now on it hears nothing
    (tmp_path / "unheard").mkdir()
    wait_for(passed_over.is_set)
    observer.inotify.has_overflowed = False
    assert supervised.check_all_heard(1.0) is None
    assert supervised.needs_count
    turn = supervised.check_all_heard(2.0)
    assert turn
    assert turn.reason == "1 directory was not listened to"
    assert supervised.check_all_heard(3.0) is None


def test_attempts_in_vain_become_rarer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each listens to the whole tree anew, which costs something."""

    def refuse(*_: object) -> None:
        raise OSError(28, "no more")

    monkeypatch.setattr(supervisor.Watch, "start", refuse)
    made = WatchSupervisor([str(tmp_path)], lambda _: None, poll_every=10.0, depth=32)
    assert made.begin(0.0).mode == "polling"
    tries = []
    for second in range(1, 1000):
        before = made._next_try
        assert made.check(float(second)) is None
        if made._next_try != before:
            tries.append(second)
    assert tries == [30, 90, 210, 450, 930]


def test_polling_is_due_every_so_often(tmp_path: Path) -> None:
    """It can be asked for, and the next one is counted from the end of the last."""
    made = WatchSupervisor(
        [str(tmp_path)], lambda _: None, poll_every=10.0, depth=32, only_polls=True
    )
    assert made.begin(0.0) == supervisor.ModeChange("polling", "so it is set")
    assert made.polls(0.0)
    made.polled(3.0)
    assert made.seconds_to_poll(4.0) == 9.0
    assert not made.polls(12.9)
    assert made.polls(13.0)
    assert made.check(14.0) is None
    made.stop()


def test_a_root_on_a_network_is_polled_and_the_others_are_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another machine changes there is no event on this one."""
    remote, local = tmp_path / "remote", tmp_path / "local"
    remote.mkdir()
    local.mkdir()
    monkeypatch.setattr(
        supervisor, "network_type", lambda path: "nfs4" if path == str(remote) else None
    )
    heard: list[str] = []
    made = WatchSupervisor([str(remote), str(local)], heard.append, poll_every=10.0, depth=32)
    turn = made.begin(0.0)
    assert turn.mode == "polling"
    assert turn.reason == f"{remote} lies on a network file system (nfs4)"
    (local / "x").mkdir()
    wait_for(lambda: str(local / "x") in heard)
    made.stop()

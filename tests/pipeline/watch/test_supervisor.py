"""Decisions of the supervisor over a real watch, with time as an argument."""

import errno
from collections.abc import Iterator
from functools import partial
from math import inf
from pathlib import Path

import pytest

from catalog.filesystem.operations import exchange_names
from pipeline.watch import supervisor
from pipeline.watch.observer import Watch
from pipeline.watch.supervisor import FAULTS, RETRY, WatchSupervisor
from tests.support.waiting import wait_for
from tests.support.watching import delayed_events, running_reader


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[WatchSupervisor]:
    """Return the supervisor of a root, started at second 0."""
    made = WatchSupervisor([str(tmp_path)], lambda _: None, poll_every=10.0)
    assert made.begin(0.0).mode == "native"
    yield made
    made.stop()


def end_reading() -> None:
    """End the thread that reads the system's events, and wait until it is dead."""
    reader = running_reader()
    reader.stop()
    reader.join()


def test_a_quiet_watch_is_left_alone(supervised: WatchSupervisor) -> None:
    """No change of mode, no polling."""
    assert supervised.check(1.0) is None
    assert supervised.check_all_heard(1.0) is None
    assert supervised.seconds_to_poll(1.0) == inf


def test_a_dead_thread_restarts_the_watch(supervised: WatchSupervisor, tmp_path: Path) -> None:
    """Everything is scanned, because events were lost."""
    end_reading()
    change = supervised.check(1.0)
    assert change
    assert (change.mode, change.reason) == ("native", "a watch thread ended")
    assert supervised.check(2.0) is None


def test_repeated_faults_mean_polling_until_events_work_again(
    supervised: WatchSupervisor, tmp_path: Path
) -> None:
    """After three faults in a minute the supervisor polls, and later tries events again."""
    for second in range(FAULTS):
        end_reading()
        change = supervised.check(float(second))
    assert change
    assert change.mode == "polling"
    assert supervised.check(FAULTS + RETRY - 2) is None
    change = supervised.check(FAULTS + RETRY)
    assert change
    assert (change.mode, change.reason) == ("native", "events are tried again")


def test_rare_faults_do_not_cause_polling(supervised: WatchSupervisor, tmp_path: Path) -> None:
    """With one an hour, the watch is restarted each time."""
    for hour in range(1, 6):
        end_reading()
        change = supervised.check(hour * 3600.0)
        assert change
        assert change.mode == "native"


def test_exchanged_folders_do_not_cause_polling(
    supervised: WatchSupervisor, tmp_path: Path
) -> None:
    """`add --replace` exchanges them: each time the watch starts again, and everything is read."""
    for name in ("one", "other"):
        (tmp_path / name / "scripts").mkdir(parents=True)
    for second in range(FAULTS + 1):
        wait_for(lambda: supervised.check_all_heard(0.0) is None and not supervised.needs_count)
        exchange_names(tmp_path / "one", tmp_path / "other")
        change = wait_for(partial(supervised.check, float(second)))
        assert change
        assert (change.mode, change.reason) == ("native", "a folder was exchanged for another")


def test_a_root_that_comes_and_goes_does_not_cause_polling(
    supervised: WatchSupervisor, tmp_path: Path
) -> None:
    """Each time, its absence and its return are noticed at once."""
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


def test_an_unwatched_directory_counts_once_it_is_found_twice(
    supervised: WatchSupervisor, tmp_path: Path
) -> None:
    """The watch of a new directory may only be late."""
    with delayed_events():
        (tmp_path / "unheard").mkdir()
        assert supervised.check_all_heard(1.0) is None
        assert supervised.needs_count
        change = supervised.check_all_heard(2.0)
    assert change
    assert (change.mode, change.reason) == ("native", "1 directory was not watched")
    assert supervised.check_all_heard(3.0) is None


def test_a_new_watch_that_misses_directories_again_means_polling(
    supervised: WatchSupervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs of the user have the rest of the watches that the system allows."""
    monkeypatch.setattr(Watch, "count_unwatched", lambda _: 3)
    changes = [supervised.check_all_heard(float(second)) for second in range(4)]
    assert [change.mode if change else None for change in changes] == [
        None,
        "native",
        None,
        "polling",
    ]
    assert changes[3]
    assert "more directories than the system will watch" in changes[3].reason


def test_failed_attempts_become_rarer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each watches the whole tree again, which is expensive."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, "no more")

    monkeypatch.setattr(Watch, "start", refuse)
    made = WatchSupervisor([str(tmp_path)], lambda _: None, poll_every=10.0)
    assert made.begin(0.0).mode == "polling"
    tries = []
    for second in range(1, 1000):
        before = made.trouble
        assert made.check(float(second)) is None
        if made.trouble != before:
            tries.append(second)
    assert tries == [30, 90, 210, 450, 930]


def test_polling_is_due_at_intervals(tmp_path: Path) -> None:
    """Polling can be configured; the interval begins at the end of the last scan."""
    made = WatchSupervisor([str(tmp_path)], lambda _: None, poll_every=10.0, only_polls=True)
    assert made.begin(0.0) == supervisor.ModeChange("polling", "polling is configured")
    assert made.seconds_to_poll(0.0) == 0.0
    made.polled(3.0)
    assert made.seconds_to_poll(4.0) == 9.0
    assert made.seconds_to_poll(12.9) > 0.0
    assert made.seconds_to_poll(13.0) == 0.0
    assert made.check(14.0) is None
    made.stop()


def test_a_root_on_a_network_is_polled_and_the_others_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change by another machine causes no event on this one."""
    remote, local = tmp_path / "remote", tmp_path / "local"
    remote.mkdir()
    local.mkdir()
    monkeypatch.setattr(
        supervisor, "network_type", lambda path: "nfs4" if path == str(remote) else None
    )
    heard: list[str] = []
    made = WatchSupervisor([str(remote), str(local)], heard.append, poll_every=10.0)
    change = made.begin(0.0)
    assert change.mode == "polling"
    assert change.reason == f"{remote} lies on a network file system (nfs4)"
    (local / "x").mkdir()
    wait_for(lambda: str(local / "x") in heard)
    made.stop()

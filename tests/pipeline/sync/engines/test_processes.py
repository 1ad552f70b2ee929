"""All engines return the same results."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catalog.model.change import Judged
from catalog.model.skill import RootSpec
from pipeline.roots.local.folder import Limits
from pipeline.sync.engines import partition
from pipeline.sync.engines import pool as engines_pool
from pipeline.sync.engines import processes as engines_processes
from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.pool import Task
from pipeline.sync.engines.results import ScanOptions, ScanResult, ScanScope, Unchanged
from pipeline.sync.engines.scanner import scan
from pipeline.sync.engines.worker import Worker
from tests.support.made_archives import make_tar, make_zip
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE


def _unchanged(results: Iterable[object]) -> list[str]:
    """Return the sorted paths of unchanged folders."""
    return sorted(path for one in results if isinstance(one, Unchanged) for path in one.paths)


@pytest.fixture
def root(tmp_path: Path, skill: SkillWriter) -> RootSpec:
    """Return a root with skills at several depths, one of them broken, and a loose finding."""
    for number in range(6):
        skill(tmp_path / "root" / f"group-{number % 2}" / f"skill-{number}")
    skill(tmp_path / "root/group-0/skill-0/nested")
    skill(tmp_path / "root/flat")
    skill(tmp_path / "root/broken", files={"SKILL.md": "nothing\n"})
    for place in ("group-0/x.zip", "y.tgz"):
        make = make_zip if place.endswith("zip") else make_tar
        make(tmp_path / "root" / place, {f"{n}/SKILL.md": "nothing\n" for n in range(3)})
    (tmp_path / "root/SKILL.md").write_text("stray")
    (tmp_path / "root/group-1/dangling").symlink_to("nowhere")
    return RootSpec(str(tmp_path / "root"))


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even a few folders use processes, which are never forks of this one."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    monkeypatch.setattr(partition, "WORTH_IT", 5)
    monkeypatch.setattr(engines_processes, "PATHS_IN_A_PIECE", 2)


def verdicts(seen: Sequence[object]) -> list[str]:
    """Return the results without times, sorted."""
    return sorted(repr(one.verdict if isinstance(one, Judged) else one) for one in seen if one)


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("paths", [("",), ("group-0", "group-1"), ("flat",), ("nowhere",)])
def test_processes_see_what_one_process_sees(root: RootSpec, paths: tuple[str, ...]) -> None:
    """Every verdict and finding, once."""
    scope, options = ScanScope(root, paths, {}), ScanOptions(Limits(), quiet=0.0)
    alone = list(engines_processes.serial(scope, options))
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(alone)


def shared_out(root: RootSpec, beside: bool) -> tuple[list[str], list[str], set[str], int]:
    """Scan with processes and alone; return both results, process classes and leftover count."""
    may_end = threading.Event()
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "WORTH_IT", 5)
        patch.setattr(engines_processes, "PATHS_IN_A_PIECE", 2)
        other = threading.Thread(target=may_end.wait)
        if beside:
            other.start()
        try:
            looking = engines_processes.processes(scope, options)
            begun = [next(one for one in looking if one)]
            kinds = {type(child).__name__ for child in multiprocessing.active_children()}
            seen = [*begun, *looking]
        finally:
            may_end.set()
            if beside:
                other.join()
    return (
        verdicts(seen),
        verdicts(list(engines_processes.serial(scope, options))),
        kinds,
        len(multiprocessing.active_children()),
    )


@pytest.mark.parametrize("beside", [False, True], ids=["forked", "beside another thread"])
def test_processes_start_and_end_with_and_without_forks(
    root: RootSpec, elsewhere: Callable[..., Any], beside: bool
) -> None:
    """Beside other threads nothing is forked, and the results are the same."""
    shared, alone, kinds, remaining = elsewhere(shared_out, root, beside)
    assert shared == alone
    assert kinds == {"ForkServerProcess" if beside else "ForkProcess"}
    assert remaining == 0


@pytest.mark.usefixtures("in_processes")
def test_every_process_has_the_known_fingerprints(root: RootSpec) -> None:
    """Each piece contains the fingerprints of its paths."""
    options = ScanOptions(Limits(), quiet=0.0)
    known = {
        one.verdict.place.path: one.verdict.fingerprint
        for one in engines_processes.serial(ScanScope(root, ("",), {}), options)
        if isinstance(one, Judged)
    }
    seen = list(engines_processes.processes(ScanScope(root, ("",), known), options))
    assert sorted(
        path for one in seen if isinstance(one, Unchanged) for path in one.paths
    ) == sorted(known)
    assert not [one for one in seen if isinstance(one, Judged)]


def rescanned(root: RootSpec, told: Path) -> tuple[list[str], list[str]]:
    """Scan known folders again with two processes; return the known and the unchanged paths.

    An audit hook in each process writes every opening and listing to a file. A file opened below a
    root has a name without its directory.
    """
    options = ScanOptions(Limits(), quiet=0.0)
    known = {
        one.verdict.place.path: one.verdict.fingerprint
        for one in engines_processes.serial(ScanScope(root, ("",), {}), options)
        if isinstance(one, Judged)
    }
    file = os.open(told, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    listening = [True]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if not listening or event not in ("open", "os.scandir"):
            return
        where, _, flags = (*arguments, 0, 0)[:3]
        is_listing = event == "os.scandir" and isinstance(where, int)
        is_file = (
            isinstance(where, str)
            and "/" not in where
            and isinstance(flags, int)
            and (not flags & os.O_DIRECTORY)
        )
        if is_listing or is_file:
            os.write(file, f"{event} {os.getpid()}\n".encode())

    sys.addaudithook(hook)  # audit hooks cannot be removed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines_processes, "WORTH_A_FORK", 2)
        patch.setattr(engines_processes, "COMPARED_APART", 2)
        patch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
        compared = replace(options, new_folders=False)
        seen = list(engines_processes.processes(ScanScope(root, ("",), known), compared))
    listening.clear()
    os.close(file)
    return sorted(known), sorted(
        path for one in seen if isinstance(one, Unchanged) for path in one.paths
    )


def test_an_unchanged_rescan_opens_no_file_and_uses_the_cores(
    root: RootSpec, tmp_path: Path, elsewhere: Callable[..., Any]
) -> None:
    """Two processes list directories; nothing else is read."""
    known, unchanged = elsewhere(rescanned, root, tmp_path / "told")
    events = (tmp_path / "told").read_text().splitlines()
    assert unchanged == known
    assert {event.split()[0] for event in events} == {"os.scandir"}
    assert len({event.split()[1] for event in events}) == 2


def die(options: ScanOptions, piece: ScanScope) -> Iterator[Any]:
    """Stand in for work that the system kills because memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)
    yield


def die_halfway(options: ScanOptions, piece: ScanScope) -> Iterator[Any]:
    """Stand in for a process that is killed after it sent some results."""
    yield [next(scan(piece, options))]
    time.sleep(0.1)  # until the result is sent
    os.kill(os.getpid(), signal.SIGKILL)


def fail_halfway(options: ScanOptions, piece: ScanScope) -> Iterator[Any]:
    """Stand in for work that raises an exception after some results."""
    yield [next(scan(piece, options))]
    raise LookupError


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("ahead", [1, 64])
@pytest.mark.parametrize("dies", [die, die_halfway, fail_halfway])
def test_a_process_that_dies_loses_nothing(
    root: RootSpec,
    monkeypatch: pytest.MonkeyPatch,
    ahead: int,
    dies: Callable[[ScanOptions, ScanScope], Iterator[Any]],
) -> None:
    """The caller scans the rest once, however many pieces and results the dead one had."""
    monkeypatch.setattr(engines_processes, "PIECES_AHEAD", ahead)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    alone = list(engines_processes.serial(scope, options))
    monkeypatch.setattr(engines_processes, "_results", dies)
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(alone)


def die_once(folder: Path, options: ScanOptions, piece: ScanScope) -> Iterator[Any]:
    """Stand in for work that kills one process after some results."""
    try:
        (folder / "killed").touch(exist_ok=False)
    except FileExistsError:
        return engines_processes._results(options, piece)  # workers import the real function
    return die_halfway(options, piece)


@pytest.mark.usefixtures("in_processes")
def test_a_piece_over_which_a_process_died_is_tried_by_another(
    root: RootSpec,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The caller scans it only if the second process dies, too."""
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    alone = list(engines_processes.serial(scope, options))
    with monkeypatch.context() as once:
        once.setattr(engines_processes, "LEFT_TO_OTHERS", 10_000)
        once.setattr(engines_processes, "_results", partial(die_once, tmp_path))
        once.setattr(engines_processes._Scan, "here", None)  # as this process does
        assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(alone)
    monkeypatch.setattr(engines_processes, "_results", die)
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(alone)
    assert [message for message in caplog.messages if f"died twice over {root.path}/" in message]


@pytest.mark.usefixtures("in_processes")
def test_the_caller_scans_while_the_processes_start(
    root: RootSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No result appears twice."""
    may_start = threading.Event()

    def late(*given: Any) -> Worker:
        may_start.wait(timeout=PATIENCE)
        return Worker(*given)

    monkeypatch.setattr(engines_pool, "Worker", late)
    monkeypatch.setattr(engines_processes, "LEFT_TO_OTHERS", 2)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    seen = engines_processes.processes(scope, options)
    begun = [next(seen) for _ in range(4)]
    assert None not in begun
    may_start.set()
    assert verdicts([*begun, *seen]) == verdicts(list(engines_processes.serial(scope, options)))


@pytest.mark.usefixtures("in_processes")
def test_if_no_process_can_start_the_caller_scans_alone(
    root: RootSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, because the system allows no more processes."""

    def refused(*_: object) -> Worker:
        raise BlockingIOError

    monkeypatch.setattr(engines_pool, "Worker", refused)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(
        list(engines_processes.serial(scope, options))
    )


class Refused(threading.Thread):
    """Thread that the system does not allow."""

    def start(self) -> None:
        """Fail like Python in this case."""
        raise RuntimeError("can't start new thread")


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("forks", [True, False])
def test_if_no_thread_can_start_the_caller_scans_alone(
    root: RootSpec, monkeypatch: pytest.MonkeyPatch, forks: bool
) -> None:
    """No process remains without a reader."""
    started: list[Worker] = []

    def noted(*given: Any) -> Worker:
        started.append(Worker(*given))
        return started[-1]

    monkeypatch.setattr(engines_pool, "Worker", noted)
    monkeypatch.setattr(engines_worker, "may_fork", lambda: forks)
    monkeypatch.setattr(threading, "Thread", Refused)
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    assert verdicts(list(engines_processes.processes(scope, options))) == verdicts(
        list(engines_processes.serial(scope, options))
    )
    assert bool(started) == forks
    assert not any(worker._process.is_alive() for worker in started)


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("whole", [True, False])
def test_garbage_collection_pauses_only_during_a_scan(root: RootSpec, whole: bool) -> None:
    """To its end, or until the scan is abandoned."""
    seen = engines_processes.processes(ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0))
    next(seen)
    assert not gc.isenabled()
    if whole:
        list(seen)
    else:
        assert isinstance(seen, Generator)
        seen.close()
    assert gc.isenabled()


@pytest.mark.usefixtures("in_processes")
def test_an_interrupt_while_processes_start_ends_those_there_are(
    root: RootSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command does not wait for a process that will never start."""
    started: list[Worker] = []

    def interrupted(*given: Any) -> Worker:
        if started:
            raise KeyboardInterrupt
        started.append(Worker(*given))
        return started[0]

    monkeypatch.setattr(engines_pool, "Worker", interrupted)
    monkeypatch.setattr(engines_worker, "may_fork", lambda: True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    has_ended = threading.Event()

    def looking() -> None:
        with suppress(KeyboardInterrupt):
            list(
                engines_processes.processes(
                    ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
                )
            )
        has_ended.set()

    threading.Thread(target=looking, daemon=True).start()
    assert has_ended.wait(timeout=PATIENCE)
    assert not started[0]._process.is_alive()


@pytest.mark.usefixtures("in_processes")
def test_long_requests_and_long_results_do_not_wait_for_each_other(
    root: RootSpec, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is larger than the buffer of a pipe, with room for one result."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    for number in range(12):
        skill(
            Path(root.path, f"long-{number:02}"),
            files={f"{name}.md": f"{name} {'words ' * 9_000}" for name in range(8)},
        )
    known = {f"long-{number:02}": "x" * 300_000 for number in range(12)}
    seen: list[ScanResult | None] = []
    looking = threading.Thread(
        daemon=True,
        target=lambda: seen.extend(
            engines_processes.processes(
                ScanScope(root, ("",), known), ScanOptions(Limits(), quiet=0.0, deep=True)
            )
        ),
    )
    looking.start()
    looking.join(timeout=PATIENCE)
    assert not looking.is_alive()
    assert (
        len([one for one in seen if isinstance(one, Judged) and one.verdict.place.path in known])
        == 12
    )


class Restarting:
    """An executor whose worker ends after each piece was scanned, so that all are scanned twice."""

    def __init__(self) -> None:
        """Begin without a task."""
        self.task: Task | None = None
        self.is_repeated = False

    def has_workers(self) -> bool:
        """Return that there is one."""
        return True

    def has_room(self) -> bool:
        """Return whether the last task is done."""
        return self.task is None

    def submit(self, task: Task) -> None:
        """Take a task."""
        self.task, self.is_repeated = task, False
        task.state = "submitted"

    def wait(self, timeout: float) -> list[Task]:
        """Give all results of the task, for the second time at its end."""
        task = self.task
        assert task
        task.results.extend(task.work(task.piece))
        if self.is_repeated:
            task.state, self.task = "done", None
        self.is_repeated = True
        return [task]


def test_results_of_a_piece_that_is_scanned_again_come_once(root: RootSpec) -> None:
    """A worker may end while it scans the next piece, and results of this one are under way."""
    scope, options = ScanScope(root, ("",), {}), ScanOptions(Limits(), quiet=0.0)
    results = engines_processes.scan_with(Restarting(), [scope], options)
    alone = engines_processes.serial(scope, options)
    assert verdicts(list(results)) == verdicts(list(alone))

"""Worker pool: work in fork-server processes and in forks."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import active_children, forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from pipeline.sync.engines import pool as engines_pool
from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.pool import Task, WorkerPool, in_order
from pipeline.sync.engines.worker import DONE, MESSAGES_AHEAD, Worker
from tests.support.waiting import PATIENCE, wait_for

PIECES = range(40)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    """Return a pool for two cores, however many the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    made = WorkerPool()
    yield made
    made.close()


def done(pool: WorkerPool, work: Callable[[int], Any], pieces: Sequence[int] = PIECES) -> list[Any]:
    """Return the results of all pieces."""
    with pool.at_work(work, pieces) as results:
        return list(results)


def who(piece: int) -> tuple[int, int]:
    """Return a piece with the process that processes it."""
    return piece, os.getpid()


def is_alive(process: int) -> bool:
    """Return whether a thread of a process still runs: until the last ends, its pipe is open."""
    with suppress(OSError):  # ended: its directory may vanish while it is listed
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError):
                if "\nState:\tZ" not in Path(f"/proc/{process}/task/{thread}/status").read_text():
                    return True
    return False


def test_results_come_in_the_order_of_the_pieces(two: WorkerPool) -> None:
    """From one process for each core, not counting the caller."""
    results = done(two, who)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_work_that_cannot_be_shared_stays_in_this_process(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One piece, no piece, or one core: a process would not pay off."""
    assert done(two, who, [7]) == [(7, os.getpid())]
    assert done(two, who, []) == []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert {process for _, process in done(two, who)} == {os.getpid()}


def test_the_same_processes_do_the_next_work(two: WorkerPool) -> None:
    """Even work that starts while the last results are pending."""
    with two.at_work(who, PIECES) as results:
        first = [next(results), next(results)]
        between = done(two, who)
        outer = [*first, *results]
    assert [piece for piece, _ in between] == [piece for piece, _ in outer] == list(PIECES)
    workers = {process for _, process in outer}
    # What is asked for between is not handed out while everybody has enough to do.
    assert {process for _, process in between} <= workers | {os.getpid()}
    assert {process for _, process in done(two, who)} == workers


def test_a_process_without_work_ends(two: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """New processes start with the next work."""
    with monkeypatch.context() as impatient:
        impatient.setattr(engines_pool, "IDLE", 0.5)
        # On a machine that stalls, one may have ended before it is asked; its part is done here.
        workers = {process for _, process in done(two, who)} - {os.getpid()}
    wait_for(lambda: not any(map(is_alive, workers)))
    others = {process for _, process in done(two, who)}
    assert len(others) == 2
    assert others.isdisjoint(workers)


def deadly(asking: int, folder: Path, piece: int) -> int:
    """Return the piece; the eighth kills any process except the caller."""
    if piece == 7 and os.getpid() != asking:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def test_a_piece_over_which_a_process_died_is_tried_again(
    two: WorkerPool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By another process; if that dies too, by the caller, with a warning."""
    assert done(two, partial(deadly, os.getpid(), tmp_path)) == list(PIECES)
    assert len(list(tmp_path.iterdir())) == 2
    assert [message for message in caplog.messages if "died twice" in message]


def test_a_death_counts_for_the_piece_in_progress(
    two: WorkerPool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not for a piece whose result was already sent, even if it is still unread."""
    with two.at_work(partial(deadly, os.getpid(), tmp_path), PIECES) as results:
        wait_for(lambda: any(not is_alive(int(file.name)) for file in tmp_path.iterdir()))
        assert list(results) == list(PIECES)
    assert len(list(tmp_path.iterdir())) == 2
    assert len(caplog.messages) == 1


def unlucky(folder: Path, piece: int) -> tuple[int, int]:
    """Return the piece with its process; the eighth piece kills its process once."""
    if piece == 7 and not (folder / "killed").exists():
        (folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return who(piece)


def test_a_process_that_is_killed_once_is_replaced(two: WorkerPool, tmp_path: Path) -> None:
    """The caller processes no piece."""
    results = done(two, partial(unlucky, tmp_path))
    assert [piece for piece, _ in results] == list(PIECES)
    assert dict(results)[7] != os.getpid()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_fork_server_may_be_killed(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """The next caller works alone; the one after that has processes again."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    assert len(done(two, who)) == len(PIECES)
    two.close()
    os.kill(forkserver._forkserver._forkserver_pid, number)  # type: ignore[attr-defined]
    assert [piece for piece, _ in done(two, who)] == list(PIECES)
    wait_for(lambda: {process for _, process in done(two, who)} != {os.getpid()})


def process_ids(_: None) -> Iterator[int]:
    """Yield the id of the working process."""
    yield os.getpid()


def test_a_process_ends_even_if_its_fork_server_was_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise, a reader of its pipe would wait forever."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    worker = Worker(PATIENCE, 0)
    worker.send(process_ids, None)
    process = pickle.loads(worker.pipe.recv_bytes())
    assert worker.pipe.recv_bytes() == DONE
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)  # type: ignore[attr-defined]
    # So it counts as ended, as at the start of the next.
    wait_for(lambda: worker._process not in active_children())
    worker.close()
    wait_for(lambda: not is_alive(process))


def failed_to_start(*_: object, **__: object) -> None:
    """Fail like the start of a process while its fork server ends."""
    raise EOFError


def test_work_goes_on_without_a_process_that_cannot_start(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An EOFError would end a command silently, like an interrupt."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    monkeypatch.setattr(ForkServerProcess, "start", failed_to_start)
    assert {process for _, process in done(two, who)} == {os.getpid()}


def failing(piece: int) -> int:
    """Return the piece, unless it is the eighth."""
    if piece == 7:
        raise LookupError
    return piece


def test_an_exception_is_raised_when_its_turn_comes(two: WorkerPool) -> None:
    """After all earlier results; the pool can then do more work."""
    with two.at_work(failing, PIECES) as results:
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(LookupError):
            next(results)
    assert [piece for piece, _ in done(two, who)] == list(PIECES)


def slow(folder: Path, piece: int) -> int:
    """Return the first piece at once, others never; note the process."""
    (folder / str(os.getpid())).touch()
    if piece:
        signal.pause()
    return piece


def test_a_caller_that_stops_reading_stops_the_work(two: WorkerPool, tmp_path: Path) -> None:
    """The processes make no more results."""
    with two.at_work(partial(slow, tmp_path), PIECES):  # and does not even begin to
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    assert not any(is_alive(int(file.name)) for file in tmp_path.iterdir())


def ask(folder: Path, pipe: Connection) -> None:
    """Give slow work to a pool, and report the first result."""
    os.sched_getaffinity = lambda _: {0, 1}
    with WorkerPool().at_work(partial(slow, folder), PIECES) as results:
        pipe.send(next(results))
        next(results)


def test_the_work_ends_with_the_caller(tmp_path: Path) -> None:
    """Even if the caller is killed: its successor finds no process still writing."""
    ours, theirs = get_context("spawn").Pipe()
    asking = get_context("spawn").Process(target=ask, args=(tmp_path, theirs))
    asking.start()
    assert ours.recv() == 0
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    asking.kill()
    asking.join()
    wait_for(lambda: not any(is_alive(int(file.name)) for file in tmp_path.iterdir()))


def many(folder: Path, piece: bytes) -> Iterator[bytes]:
    """Yield results larger than the buffer of a pipe, and note their number."""
    for number in range(2 * MESSAGES_AHEAD):
        (folder / f"{len(piece)}-{number}").touch()
        yield bytes(300_000)


def test_the_number_of_results_in_memory_is_limited(two: WorkerPool, tmp_path: Path) -> None:
    """A process pauses while the caller takes no results; in the end all arrive."""
    two.start(1)
    wait_for(two.has_room)
    task = Task(partial(many, tmp_path), b"")
    two.submit(task)
    wait_for(lambda: len(list(tmp_path.iterdir())) >= MESSAGES_AHEAD)
    time.sleep(0.5)  # an unlimited process would go on
    assert len(list(tmp_path.iterdir())) <= MESSAGES_AHEAD + 3  # one is sent, one is waiting
    while task.state == "submitted":
        two.wait(PATIENCE)
    assert len(task.results) == 2 * MESSAGES_AHEAD


def test_long_pieces_and_long_results_do_not_wait_for_each_other(
    two: WorkerPool, tmp_path: Path
) -> None:
    """Each is larger than the buffer of a pipe, and there is no room for more results."""
    two.start(1)
    wait_for(two.has_room)
    tasks = [Task(partial(many, tmp_path), bytes(300_000 + number)) for number in range(4)]
    sending = threading.Thread(target=lambda: list(map(two.submit, tasks)), daemon=True)
    sending.start()
    sending.join(timeout=PATIENCE)
    assert not sending.is_alive()
    while any(task.state == "submitted" for task in tasks):
        two.wait(PATIENCE)
    assert [len(task.results) for task in tasks] == [2 * MESSAGES_AHEAD] * 4


def in_forks(processes: int) -> tuple[list[tuple[int, int]], int]:
    """Return the pieces with their processes, and this process."""
    return list(in_order(who, PIECES, processes)), os.getpid()


@pytest.mark.parametrize("processes", [1, 2, 3, 64])
def test_forks_give_results_in_the_order_of_the_pieces(
    elsewhere: Callable[..., Any], processes: int
) -> None:
    """However many pieces; the caller processes none."""
    results, asking = elsewhere(in_forks, processes)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert len(workers) == min(processes, len(PIECES))
    assert (asking in workers) == (processes == 1)


def test_beside_other_threads_nothing_is_forked() -> None:
    """A thread might hold a lock, which would stay locked in the fork."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {process for _, process in in_order(who, PIECES, 2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()


def long(folder: Path, _: int) -> bytes:
    """Note the process, and return more than the buffer of a pipe holds."""
    (folder / str(os.getpid())).touch()
    return bytes(1_000_000)


def heard_once(folder: Path) -> None:
    """Take one result, and stop."""
    results = in_order(partial(long, folder), PIECES, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]


def test_forks_end_when_their_results_are_no_longer_taken(
    elsewhere: Callable[..., Any], tmp_path: Path
) -> None:
    """Even a fork that waits to send."""
    elsewhere(heard_once, tmp_path)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert workers
    assert not any(map(is_alive, workers))

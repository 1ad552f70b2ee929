"""Work that is shared with processes, here and in forks."""

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
    """Return a pool for two cores, however many there are."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    made = WorkerPool()
    yield made
    made.close()


def done(pool: WorkerPool, work: Callable[[int], Any], pieces: Sequence[int] = PIECES) -> list[Any]:
    """Return the results of all pieces."""
    with pool.at_work(work, pieces) as results:
        return list(results)


def who(piece: int) -> tuple[int, int]:
    """Return a piece with the process that does it."""
    return piece, os.getpid()


def is_alive(process: int) -> bool:
    """Tell whether a thread of a process has not ended: until the last has, its pipe is open."""
    for thread in Path(f"/proc/{process}/task").glob("*/status"):
        with suppress(OSError):
            if "\nState:\tZ" not in thread.read_text():
                return True
    return False


def test_results_come_in_the_order_of_the_pieces(two: WorkerPool) -> None:
    """From as many processes as there are cores, of which the one that asks is not one."""
    results = done(two, who)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_what_cannot_be_shared_is_done_here(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One piece, no piece, or one core: no process is worth it."""
    assert done(two, who, [7]) == [(7, os.getpid())]
    assert done(two, who, []) == []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert {process for _, process in done(two, who)} == {os.getpid()}


def test_the_same_processes_do_the_next_work(two: WorkerPool) -> None:
    """Also what is asked for while the last results are still awaited."""
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
    """Others take its place when there is work again."""
    with monkeypatch.context() as impatient:
        impatient.setattr(engines_pool, "IDLE", 0.5)
        # On a machine that stalls, one may have ended before it is asked; its part is done here.
        workers = {process for _, process in done(two, who)} - {os.getpid()}
    wait_for(lambda: not any(map(is_alive, workers)))
    others = {process for _, process in done(two, who)}
    assert len(others) == 2
    assert others.isdisjoint(workers)


def deadly(asking: int, folder: Path, piece: int) -> int:
    """Return the piece; a process that is not the one that asks does not survive the eighth."""
    if piece == 7 and os.getpid() != asking:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def test_a_piece_over_which_a_process_died_is_tried_again(
    two: WorkerPool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By another process, and by the one that asked where that died, too, which is said."""
    assert done(two, partial(deadly, os.getpid(), tmp_path)) == list(PIECES)
    assert len(list(tmp_path.iterdir())) == 2
    assert [each for each in caplog.messages if "died twice" in each]


def test_a_death_is_put_down_to_the_piece_it_happened_over(
    two: WorkerPool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And to none whose result the process had sent before, though nobody had read that yet."""
    with two.at_work(partial(deadly, os.getpid(), tmp_path), PIECES) as results:
        wait_for(lambda: any(not is_alive(int(file.name)) for file in tmp_path.iterdir()))
        assert list(results) == list(PIECES)
    assert len(list(tmp_path.iterdir())) == 2
    assert len(caplog.messages) == 1


def unlucky(folder: Path, piece: int) -> tuple[int, int]:
    """Return the piece with the process that does it, which the eighth kills once."""
    if piece == 7 and not (folder / "killed").exists():
        (folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return who(piece)


def test_a_process_that_is_killed_once_is_replaced(two: WorkerPool, tmp_path: Path) -> None:
    """Nothing is left to the one that asked."""
    results = done(two, partial(unlucky, tmp_path))
    assert [piece for piece, _ in results] == list(PIECES)
    assert dict(results)[7] != os.getpid()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_process_that_starts_the_others_may_be_killed(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Whoever asks next does the work, and the one after that has processes again."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    assert len(done(two, who)) == len(PIECES)
    two.close()
    os.kill(forkserver._forkserver._forkserver_pid, number)  # type: ignore[attr-defined]
    assert [piece for piece, _ in done(two, who)] == list(PIECES)
    wait_for(lambda: {process for _, process in done(two, who)} != {os.getpid()})


def process_ids(_: None) -> Iterator[int]:
    """Yield the process that does the work."""
    yield os.getpid()


def test_a_process_ends_though_the_one_that_started_it_was_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever reads what it says would wait for its end for ever."""
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
    """Stand in for a process that is told to start as the one that starts it ends."""
    raise EOFError


def test_a_process_that_cannot_be_started_is_done_without(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An EOFError would end a command as an interrupt does, without a word."""
    monkeypatch.setattr(engines_worker, "may_fork", lambda: False)
    monkeypatch.setattr(ForkServerProcess, "start", failed_to_start)
    assert {process for _, process in done(two, who)} == {os.getpid()}


def failing(piece: int) -> int:
    """Return the piece, unless it is the eighth."""
    if piece == 7:
        raise LookupError
    return piece


def test_an_exception_is_raised_when_its_turn_comes(two: WorkerPool) -> None:
    """With everything before it done, and more work can follow."""
    with two.at_work(failing, PIECES) as results:
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(LookupError):
            next(results)
    assert [piece for piece, _ in done(two, who)] == list(PIECES)


def slow(folder: Path, piece: int) -> int:
    """Return the piece at once, if it is the first, else after long; note the process."""
    (folder / str(os.getpid())).touch()
    if piece:
        time.sleep(60)
    return piece


def test_who_stops_listening_stops_the_work(two: WorkerPool, tmp_path: Path) -> None:
    """Nothing is made any more of what nobody will take."""
    with two.at_work(partial(slow, tmp_path), PIECES):  # and does not even begin to
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    assert not any(is_alive(int(file.name)) for file in tmp_path.iterdir())


def ask(folder: Path, pipe: Connection) -> None:
    """Ask a pool for slow work, and report the first result."""
    os.sched_getaffinity = lambda _: {0, 1}
    with WorkerPool().at_work(partial(slow, folder), PIECES) as results:
        pipe.send(next(results))
        next(results)


def test_the_work_ends_with_the_one_who_asked(tmp_path: Path) -> None:
    """Even if that is killed: its successor meets nobody who still writes."""
    ours, theirs = get_context("spawn").Pipe()
    asking = get_context("spawn").Process(target=ask, args=(tmp_path, theirs))
    asking.start()
    assert ours.recv() == 0
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    asking.kill()
    asking.join()
    wait_for(lambda: not any(is_alive(int(file.name)) for file in tmp_path.iterdir()))


def many(folder: Path, piece: bytes) -> Iterator[bytes]:
    """Yield results, each longer than a pipe is wide, and note how many were made."""
    for number in range(2 * MESSAGES_AHEAD):
        (folder / f"{len(piece)}-{number}").touch()
        yield bytes(300_000)


def test_no_more_waits_in_memory_than_there_is_room_for(two: WorkerPool, tmp_path: Path) -> None:
    """While the caller takes no results, a process stops; in the end all are there."""
    two.start(1)
    wait_for(two.has_room)
    task = Task(partial(many, tmp_path), b"")
    two.submit(task)
    wait_for(lambda: len(list(tmp_path.iterdir())) >= MESSAGES_AHEAD)
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) <= MESSAGES_AHEAD + 3  # one is sent, one is waiting
    while task.state == "submitted":
        two.wait(PATIENCE)
    assert len(task.results) == 2 * MESSAGES_AHEAD


def test_long_pieces_and_long_results_do_not_wait_for_each_other(
    two: WorkerPool, tmp_path: Path
) -> None:
    """Each is longer than a pipe is wide, and there is no room for more results."""
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
    """Return the pieces with the processes that do them, and this process."""
    return list(in_order(who, PIECES, processes)), os.getpid()


@pytest.mark.parametrize("processes", [1, 2, 3, 64])
def test_forks_give_results_in_the_order_of_the_pieces(
    elsewhere: Callable[..., Any], processes: int
) -> None:
    """However many there are; the process that asks does nothing itself."""
    results, asking = elsewhere(in_forks, processes)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert len(workers) == min(processes, len(PIECES))
    assert (asking in workers) == (processes == 1)


def test_beside_other_threads_nothing_is_forked() -> None:
    """One of them might hold a lock, which would stay locked in the fork."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {process for _, process in in_order(who, PIECES, 2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()


def long(folder: Path, _: int) -> bytes:
    """Note the process, and return more than a pipe holds."""
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
    """None is left, though it waits to send."""
    elsewhere(heard_once, tmp_path)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert workers
    assert not any(map(is_alive, workers))

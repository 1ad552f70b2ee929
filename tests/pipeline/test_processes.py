"""Work in fork-server processes and in forks."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import active_children, forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from pipeline.processes import at_work, process_pool
from tests.support.waiting import wait_for

PIECES = range(40)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let work be shared by two processes, however many cores the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.fixture
def beside_a_thread() -> Iterator[None]:
    """Run a thread, beside which nothing may be forked."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


pytestmark = pytest.mark.usefixtures("two_cores", "beside_a_thread")


def done(work: Callable[[int], Any], pieces: Sequence[int] = PIECES) -> list[Any]:
    """Return the results of all pieces."""
    with at_work(work, pieces) as results:
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


def test_results_come_in_the_order_of_the_pieces() -> None:
    """From other processes, which end with the work."""
    results = done(who)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert 1 <= len(workers) <= 2
    assert os.getpid() not in workers
    assert not any(map(is_alive, workers))


def test_work_that_cannot_be_shared_stays_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece, no piece, or one core: a process would not pay off."""
    assert done(who, [7]) == [(7, os.getpid())]
    assert done(who, []) == []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert {process for _, process in done(who)} == {os.getpid()}


def test_few_pieces_start_no_process_but_use_an_open_one() -> None:
    """The caller says how many are few."""
    with at_work(who, PIECES, fewest=len(PIECES) + 1) as results:
        assert {process for _, process in results} == {os.getpid()}
    with process_pool(2), at_work(who, PIECES, fewest=len(PIECES) + 1) as results:
        assert os.getpid() not in {process for _, process in results}


def test_work_may_begin_before_the_results_of_the_last_are_taken() -> None:
    """Each has processes of its own."""
    with at_work(who, PIECES) as results:
        first = [next(results), next(results)]
        between = done(who)
        outer = [*first, *results]
    assert [piece for piece, _ in between] == [piece for piece, _ in outer] == list(PIECES)
    assert os.getpid() not in {process for _, process in (*between, *outer)}


def deadly(asking: int, folder: Path, piece: int) -> int:
    """Return the piece; the eighth kills any process except the caller."""
    if piece == 7 and os.getpid() != asking:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    """The caller does what is left."""
    assert done(partial(deadly, os.getpid(), tmp_path)) == list(PIECES)
    assert len(list(tmp_path.iterdir())) == 1


def interrupted_answer(asking: int, piece: int) -> int:
    """Return the piece; a process that is not the caller dies while it sends the eighth."""

    def send_half(self: Connection, answer: bytes) -> None:
        os.write(self.fileno(), answer[: len(answer) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    if piece == 7 and os.getpid() != asking:
        Connection._send = send_half  # type: ignore[attr-defined]
    return piece


def test_a_process_killed_while_it_answers_loses_nothing() -> None:
    """Nobody waits for the rest of its answer."""
    assert done(partial(interrupted_answer, os.getpid())) == list(PIECES)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_fork_server_may_be_killed(number: signal.Signals) -> None:
    """The next work is done; later work has other processes again."""
    assert len(done(who)) == len(PIECES)
    os.kill(forkserver._forkserver._forkserver_pid, number)  # type: ignore[attr-defined]
    assert [piece for piece, _ in done(who)] == list(PIECES)
    wait_for(lambda: os.getpid() not in {process for _, process in done(who)})


def failed_to_start(*_: object, **__: object) -> None:
    """Fail like the start of a process while its fork server ends."""
    raise EOFError


def refused(*_: object, **__: object) -> None:
    """Fail like the start of a process or a thread that the system does not allow."""
    raise BlockingIOError


@pytest.mark.parametrize("start", [failed_to_start, refused])
def test_work_goes_on_without_a_process_that_cannot_start(
    monkeypatch: pytest.MonkeyPatch, start: Callable[..., None]
) -> None:
    """An EOFError would end a command silently, like an interrupt."""
    monkeypatch.setattr(ForkServerProcess, "start", start)
    assert {process for _, process in done(who)} == {os.getpid()}


class Refused(threading.Thread):
    """Thread that the system does not allow."""

    def start(self) -> None:
        """Fail like Python in this case."""
        raise RuntimeError("can't start new thread")


def test_work_goes_on_without_a_thread_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor needs one."""
    monkeypatch.setattr(Refused.__mro__[1], "start", Refused.start)
    assert {process for _, process in done(who)} == {os.getpid()}


def failing(piece: int) -> int:
    """Return the piece, unless it is the eighth."""
    if piece == 7:
        raise LookupError
    return piece


def test_an_exception_is_raised_when_its_turn_comes() -> None:
    """After all earlier results."""
    with at_work(failing, PIECES) as results:
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(LookupError):
            next(results)


def slow(folder: Path, piece: int) -> int:
    """Return the first piece at once, others never; note the process."""
    (folder / str(os.getpid())).touch()
    if piece:
        signal.pause()
    return piece


def test_a_caller_that_stops_reading_stops_the_work(tmp_path: Path) -> None:
    """The processes make no more results."""
    with at_work(partial(slow, tmp_path), PIECES):  # and does not even begin to
        wait_for(lambda: list(tmp_path.iterdir()))
    assert not any(is_alive(int(file.name)) for file in tmp_path.iterdir())


def test_the_processes_of_an_open_pool_do_other_work_too() -> None:
    """So a scan that makes packages starts no more of them."""
    with process_pool(2) as pool:
        scanning = {pool.submit(who, piece).result()[1] for piece in PIECES}
        assert {process for _, process in done(who)} <= scanning
        with pytest.raises(LookupError):
            done(failing)
        assert [piece for piece, _ in done(who)] == list(PIECES)


def pausing(folder: Path, piece: int) -> None:
    """Fail at once with the first piece, and note the others after a while."""
    if piece == 0:
        raise LookupError
    wait_for((folder / "go").exists)
    (folder / str(piece)).touch()


def test_work_that_fails_in_an_open_pool_has_ended(tmp_path: Path) -> None:
    """What it has begun is not interrupted, as other work would be; nothing else begins."""
    with process_pool(2):
        done(who)  # so the processes have started
        threading.Timer(1, (tmp_path / "go").touch).start()
        with pytest.raises(LookupError):
            done(partial(pausing, tmp_path))
        made = len(list(tmp_path.iterdir()))
        assert 1 < made < 5
        assert done(who)
        assert len(list(tmp_path.iterdir())) == made


def ask(folder: Path, pipe: Connection) -> None:
    """Give slow work to other processes, and report the first result."""
    with at_work(partial(slow, folder), PIECES, 2) as results:
        pipe.send(next(results))
        next(results)


@pytest.mark.parametrize("has_thread", [False, True])
def test_the_work_ends_with_the_caller(tmp_path: Path, has_thread: bool) -> None:
    """Even if the caller is killed: its successor finds no process still writing."""
    ours, theirs = get_context("spawn").Pipe()
    target = ask_beside_a_thread if has_thread else ask
    asking = get_context("spawn").Process(target=target, args=(tmp_path, theirs))
    asking.start()
    assert ours.recv() == 0
    wait_for(lambda: list(tmp_path.iterdir()))
    asking.kill()
    asking.join()
    wait_for(lambda: not any(is_alive(int(file.name)) for file in tmp_path.iterdir()))


def ask_beside_a_thread(folder: Path, pipe: Connection) -> None:
    """Ask as a process that must not fork."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    ask(folder, pipe)


def big(piece: bytes) -> bytes:
    """Return more than the buffer of a pipe holds."""
    return bytes(len(piece))


def test_long_pieces_and_long_results_do_not_wait_for_each_other() -> None:
    """Each is larger than the buffer of a pipe."""
    pieces = [bytes(300_000 + number) for number in range(40)]
    with at_work(big, pieces) as results:
        assert list(results) == pieces


def in_order(work: Callable[[Any], Any], pieces: Sequence[Any], count: int) -> Iterator[Any]:
    """Yield the results; the work ends with the iteration."""
    with at_work(work, pieces, count) as results:
        yield from results


def in_forks(count: int) -> tuple[list[tuple[int, int]], int, str]:
    """Return the pieces with their processes, this process, and the kind of the processes."""
    kinds: set[str] = set()
    results = in_order(who, PIECES, count)
    taken = [next(results)]
    kinds |= {type(child).__name__ for child in active_children()}
    return [*taken, *results], os.getpid(), ",".join(kinds)


@pytest.mark.parametrize("count", [1, 2, 3, 64])
def test_forks_give_results_in_the_order_of_the_pieces(
    elsewhere: Callable[..., Any], count: int
) -> None:
    """However many pieces; the caller processes none."""
    results, asking, kind = elsewhere(in_forks, count)
    assert [piece for piece, _ in results] == list(PIECES)
    workers = {process for _, process in results}
    assert (asking in workers) == (count == 1)
    assert kind == ("" if count == 1 else "ForkProcess")


def test_beside_other_threads_nothing_is_forked() -> None:
    """A thread might hold a lock, which would stay locked in the fork."""
    with at_work(who, PIECES) as results:
        next(results)
        kinds = {type(child).__name__ for child in active_children()}
    assert "ForkServerProcess" in kinds
    assert "ForkProcess" not in kinds


def heard_once(folder: Path) -> None:
    """Take one result, and stop."""
    results = in_order(partial(slow, folder), PIECES, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]


def test_forks_end_when_their_results_are_no_longer_taken(
    elsewhere: Callable[..., Any], tmp_path: Path
) -> None:
    """Even in the middle of their work."""
    elsewhere(heard_once, tmp_path)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert workers
    assert not any(map(is_alive, workers))


def interrupted(folder: Path) -> bool:
    """Return whether Ctrl-C reaches only this process."""
    os.setpgrp()
    results = in_order(partial(slow, folder), PIECES, 2)
    next(results)
    try:
        os.killpg(0, signal.SIGINT)
        next(results)
    except KeyboardInterrupt:
        return True
    return False


def test_ctrl_c_ends_the_work(
    elsewhere: Callable[..., Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a traceback of another process."""
    assert elsewhere(interrupted, tmp_path)
    assert not any(is_alive(int(file.name)) for file in tmp_path.iterdir())
    assert capfd.readouterr().err == ""

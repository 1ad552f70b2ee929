import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.sync.engines import fork_pool

PIECES = range(40)


def who(piece: int) -> tuple[int, int]:
    """Return a piece with the process that does it."""
    return piece, os.getpid()


def done_by(cores: int) -> tuple[list[tuple[int, int]], int]:
    """Return the pieces with the processes that do them, and this process."""
    return list(fork_pool.in_order(who, PIECES, cores)), os.getpid()


@pytest.mark.parametrize("cores", [1, 2, 3, 64])
def test_results_come_in_the_order_of_the_pieces(elsewhere: Callable[..., Any], cores: int) -> None:
    """However many processes there are, of which the one that asks is not one."""
    done, asking = elsewhere(done_by, cores)
    assert [piece for piece, _ in done] == list(PIECES)
    workers = {process for _, process in done}
    assert len(workers) == min(cores, len(PIECES))
    assert (asking in workers) == (cores == 1)


def test_nothing_is_done_where_there_is_nothing_to_do() -> None:
    """No piece, no process."""
    assert list(fork_pool.in_order(who, [], 4)) == []


def through_death() -> list[int]:
    """Do the pieces in processes, one of which is killed, as by a system out of memory."""
    here = os.getpid()

    def deadly(piece: int) -> int:
        if piece == 7 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return piece

    return list(fork_pool.in_order(deadly, PIECES, 2))


def test_what_a_dead_process_leaves_is_done_all_the_same(elsewhere: Callable[..., Any]) -> None:
    """By the one that asked."""
    assert elsewhere(through_death) == list(PIECES)


def until_it_fails() -> list[int | str]:
    """Do the pieces, the eighth of which fails."""

    def failing(piece: int) -> int:
        if piece == 7:
            raise LookupError
        return piece

    done: list[int | str] = []
    try:
        for piece in fork_pool.in_order(failing, PIECES, 2):
            done.append(piece)  # noqa: PERF402 - those before the failure are what is asked for
    except LookupError:
        done.append("failed")
    return done


def test_an_exception_is_raised_when_its_turn_comes(elsewhere: Callable[..., Any]) -> None:
    """With everything before it done."""
    assert elsewhere(until_it_fails) == [*range(7), "failed"]


def test_beside_other_threads_nothing_is_forked() -> None:
    """One of them might hold a lock, which nobody would ever release in the fork."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {process for _, process in fork_pool.in_order(who, PIECES, 2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()


def heard_once(folder: Path) -> None:
    """Listen to one result, and stop."""

    def noted(_: int) -> bytes:
        (folder / str(os.getpid())).touch()
        return bytes(1_000_000)  # more than a pipe holds, so that it waits to be heard

    results = fork_pool.in_order(noted, PIECES, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]


def test_who_stops_listening_stops_the_work(elsewhere: Callable[..., Any], tmp_path: Path) -> None:
    """No process outlives the wish for its results."""
    elsewhere(heard_once, tmp_path)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)

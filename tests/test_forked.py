import os
import signal
import threading
from pathlib import Path

import pytest

from pipeline import forked

PIECES = range(40)


def who(piece: int) -> tuple[int, int]:
    """Return a piece with the process that does it."""
    return piece, os.getpid()


@pytest.mark.parametrize("cores", [1, 2, 3, 64])
def test_results_come_in_the_order_of_the_pieces(cores: int) -> None:
    """However many processes there are, of which this one is not one."""
    done = list(forked.in_order(who, PIECES, cores))
    assert [piece for piece, _ in done] == list(PIECES)
    workers = {process for _, process in done}
    assert len(workers) == min(cores, len(PIECES))
    assert (os.getpid() in workers) == (cores == 1)


def test_nothing_is_done_where_there_is_nothing_to_do() -> None:
    """No piece, no process."""
    assert list(forked.in_order(who, [], 4)) == []


def test_what_a_dead_process_leaves_is_done_here() -> None:
    """Killed in the middle of a piece, as by a system out of memory."""
    here = os.getpid()

    def deadly(piece: int) -> int:
        if piece == 7 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return piece

    assert list(forked.in_order(deadly, PIECES, 2)) == list(PIECES)


def test_an_exception_is_raised_when_its_turn_comes() -> None:
    """With everything before it done."""

    def failing(piece: int) -> int:
        if piece == 7:
            raise LookupError(piece)
        return piece

    results = forked.in_order(failing, PIECES, 2)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(LookupError):
        next(results)


def test_beside_other_threads_nothing_is_forked() -> None:
    """One of them might hold a lock, which nobody would ever release in the fork."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {process for _, process in forked.in_order(who, PIECES, 2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()


def test_who_stops_listening_stops_the_work(tmp_path: Path) -> None:
    """No process outlives the one that asked for its results."""

    def noted(piece: int) -> bytes:
        (tmp_path / str(os.getpid())).touch()
        return bytes(1_000_000)  # more than a pipe holds, so that it waits to be heard

    results = forked.in_order(noted, PIECES, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)

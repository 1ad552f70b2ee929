"""Does pieces of work in processes that stay for a while, for more of it."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from pipeline.workers import Worker

Piece = TypeVar("Piece")
Result = TypeVar("Result")

PIECES_AHEAD = 4
"""So many that a process has work while the one that asks does something else."""
IDLE = 30.0
"""Seconds without work after which a process ends."""


class Crew:
    """As many processes as there are cores, once there is work for two of them.

    A result had better be short: it waits in a pipe until somebody asks for it.
    """

    def __init__(self) -> None:
        """Begin without any process."""
        self._members: list[_Member] = []

    @contextmanager
    def at_work(self, work: Callable[[Piece], Result],
                pieces: Sequence[Piece]) -> Iterator[Iterator[Result]]:
        """Give the results of the pieces, in their order; all must be picklable.

        The work begins at once, and what is not done by the end of the context is left. What a
        process leaves undone, because it died or its work raised, this one does itself: an
        exception is thus raised here, when the turn of its piece comes.
        """
        wanted = min(len(os.sched_getaffinity(0)), len(pieces))
        if wanted < 2:
            yield map(work, pieces)
            return
        self._hire(wanted)
        call = _Call(work, pieces)
        self._ask(call)
        try:
            yield self._results(call)
        finally:
            if call.asked:
                self.end()  # what is being done is wanted no more

    def end(self) -> None:
        """End all processes; they are started again when there is work."""
        for member in list(self._members):
            self._lose(member)

    def _results(self, call: "_Call") -> Iterator[Any]:
        for number, piece in enumerate(call.pieces):
            self._ask(call)
            while number in call.asked:
                self._receive()
            if number in call.todo:  # all have enough to do, or nobody is left
                call.todo.popleft()
            yield call.done.pop(number) if number in call.done else call.work(piece)

    def _hire(self, number: int) -> None:
        for member in [member for member in self._members if not member.is_there()]:
            self._lose(member)
        while len(self._members) < number:
            self._members.append(_Member())

    def _ask(self, call: "_Call") -> None:
        """Hand out pieces until all have enough of them."""
        for _ in range(PIECES_AHEAD):
            for member in list(self._members):
                if len(member.asked) < PIECES_AHEAD and call.todo and not member.ask(call):
                    self._lose(member)

    def _receive(self) -> None:
        """Wait until there are results and take them, or note that a process has ended."""
        busy = {member.worker.pipe: member for member in self._members if member.asked}
        for pipe in wait(list(busy)):
            assert isinstance(pipe, Connection)
            try:
                busy[pipe].take(pipe.recv())
            except (EOFError, OSError):
                self._lose(busy[pipe])

    def _lose(self, member: "_Member") -> None:
        self._members.remove(member)
        member.leave()


class _Call:
    """Pieces that somebody waits for the results of."""

    def __init__(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> None:
        self.work, self.pieces = work, pieces
        self.todo = deque(range(len(pieces)))
        self.asked: set[int] = set()
        self.done: dict[int, Any] = {}


class _Member:
    """A process, and what it was asked for, in the order in which it answers."""

    def __init__(self) -> None:
        self.worker = Worker(_serve, IDLE)
        self.asked: deque[tuple[_Call, int]] = deque()

    def is_there(self) -> bool:
        """Tell whether it waits for work or does some; one that was idle for long has ended."""
        return bool(self.asked) or not self.worker.pipe.poll()

    def ask(self, call: _Call) -> bool:
        """Give it a piece; tell whether it was there to take it."""
        number = call.todo.popleft()
        call.asked.add(number)
        self.asked.append((call, number))
        try:
            self.worker.pipe.send((call.work, call.pieces[number]))
        except OSError:
            return False
        return True

    def take(self, result: object) -> None:
        """Note the result of what it was asked for first."""
        call, number = self.asked.popleft()
        call.asked.discard(number)
        call.done[number] = result

    def leave(self) -> None:
        """Let others do what it was asked for."""
        self.worker.end()
        self.worker.pipe.close()
        for call, number in self.asked:
            call.asked.discard(number)


def _serve(pipe: Connection, patience: float) -> None:
    """Do what is asked for; one who fails at it leaves it, with the rest, to the one who asked."""
    with suppress(Exception):
        while pipe.poll(patience):
            work, piece = pipe.recv()
            pipe.send(work(piece))

"""Process pool that outlives one piece of work."""

import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from pipeline.sync.engines.worker import Worker

Piece = TypeVar("Piece")
Result = TypeVar("Result")

log = logging.getLogger("skilldrop")

PIECES_AHEAD = 4
"""So many that a process has work while the one that asks does something else."""
IDLE = 30.0
"""Seconds without work after which a process ends."""
TRIES = 2
"""Processes that may die over a piece before it is done by the one that asked."""


class WorkerPool:
    """As many processes as there are cores, once there is work for two of them.

    A result had better be short: it waits in a pipe until somebody asks for it.
    """

    def __init__(self) -> None:
        """Begin without any process."""
        self._members: list[_Member] = []

    @contextmanager
    def at_work(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[Iterator[Result]]:
        """Give the results of the pieces, in their order; all must be picklable.

        The work begins at once, and what is not done by the end of the context is left. What a
        process leaves undone because it died another one tries again, and then this one; work that
        raised this one does itself at once: an exception is thus raised here, when the turn of its
        piece comes.
        """
        wanted = min(len(os.sched_getaffinity(0)), len(pieces))
        if wanted < 2:
            yield map(work, pieces)
            return
        call = _Call(work, pieces, wanted)
        self._hire(wanted)
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
                if self._receive():
                    self._hire(call.wanted)
                    self._ask(call)
            if number in call.todo:  # all have enough to do, or nobody is left
                call.todo.remove(number)
            result = call.done.pop(number, _FAILED)
            yield call.work(piece) if isinstance(result, _Failed) else result

    def _hire(self, number: int) -> None:
        """Start processes until there are so many, or the system allows no more."""
        for member in [member for member in self._members if not member.is_there()]:
            self._lose(member)
        with suppress(OSError):
            while len(self._members) < number:
                self._members.append(_Member())

    def _ask(self, call: "_Call") -> None:
        """Hand out pieces until all have enough of them."""
        for _ in range(PIECES_AHEAD):
            for member in list(self._members):
                if len(member.asked) < PIECES_AHEAD and call.todo:
                    member.ask(call)

    def _receive(self) -> bool:
        """Wait until there are results and take them; tell whether a process has ended instead."""
        has_lost = False
        busy = {member.worker.pipe: member for member in self._members if member.asked}
        for pipe in wait(list(busy)):
            assert isinstance(pipe, Connection)
            try:
                busy[pipe].take(pipe.recv())
            except (EOFError, OSError):
                self._lose(busy[pipe])
                has_lost = True
        return has_lost

    def _lose(self, member: "_Member") -> None:
        self._members.remove(member)
        member.leave()


class _Call:
    """Pieces that somebody waits for the results of."""

    def __init__(self, work: Callable[[Any], Any], pieces: Sequence[Any], wanted: int) -> None:
        self.work, self.pieces, self.wanted = work, pieces, wanted
        self.todo = deque(range(len(pieces)))
        self.asked: set[int] = set()
        self.done: dict[int, Any] = {}
        self.deaths: Counter[int] = Counter()

    def leave(self, number: int, *, was_at_work: bool) -> None:
        """Let another process try a piece, unless two have died over it."""
        self.asked.discard(number)
        self.deaths[number] += was_at_work
        if self.deaths[number] < TRIES:
            self.todo.appendleft(number)
        else:
            log.warning(
                "Helper processes died twice over one piece of work; the service does it itself."
            )


class _Member:
    """A process, and what it was asked for, in the order in which it answers."""

    def __init__(self) -> None:
        self.worker = Worker(_serve, IDLE)
        self.asked: deque[tuple[_Call, int]] = deque()

    def is_there(self) -> bool:
        """Tell whether it waits for work or does some; one that was idle for long has ended."""
        return bool(self.asked) or not self.worker.pipe.poll()

    def ask(self, call: _Call) -> None:
        """Give it a piece.

        That it has died comes out when its results are read: only after the last of them is it
        known over which piece.
        """
        number = call.todo.popleft()
        call.asked.add(number)
        self.asked.append((call, number))
        with suppress(OSError):
            self.worker.pipe.send((call.work, call.pieces[number]))

    def take(self, result: object) -> None:
        """Note the result of what it was asked for first."""
        call, number = self.asked.popleft()
        call.asked.discard(number)
        call.done[number] = result

    def leave(self) -> None:
        """Let others do what it was asked for."""
        self.worker.end()
        self.worker.pipe.close()
        for place, (call, number) in reversed(list(enumerate(self.asked))):
            call.leave(number, was_at_work=place == 0)


class _Failed:
    """Stands for the result of work that raised."""


_FAILED = _Failed()


def _serve(pipe: Connection, patience: float) -> None:
    """Do what is asked for, and say where that failed."""
    while pipe.poll(patience):
        work, piece = pipe.recv()
        try:
            result = work(piece)
        except Exception:  # noqa: BLE001  # it is raised where the work was asked for
            result = _FAILED
        pipe.send(result)

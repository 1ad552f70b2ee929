"""Process pool for scans and packages."""

import logging
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, Protocol, TypeVar

from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.worker import DONE, FAILED, Worker

Piece = TypeVar("Piece")
Result = TypeVar("Result")

log = logging.getLogger("skilldrop")

PIECES_AHEAD = 4
"""Pieces of each process: it has work while its parent does something else."""
IDLE = 30.0
"""Seconds without work after which a process ends."""
TRIES = 2
"""Processes that may die over a piece before the caller does it."""


class Task:
    """A piece of work in an executor, with its results so far.

    Its state is `returned` where the caller must do it: the work raised, or TRIES processes died
    over it. Then some of its results may have come.
    """

    def __init__(self, work: Callable[[Any], Iterable[Any]], piece: Any) -> None:
        """Take a picklable function that yields the results of a picklable piece."""
        self.work, self.piece = work, piece
        self.state: Literal["new", "submitted", "done", "returned"] = "new"
        self.results: deque[Any] = deque()
        self.deaths = 0

    def __str__(self) -> str:
        return "one piece of work"


class Executor(Protocol):
    """Processes that do tasks, on this machine or on others."""

    def has_workers(self) -> bool:
        """Tell whether there are processes, or some are starting."""

    def has_room(self) -> bool:
        """Tell whether another task would keep a process at work."""

    def submit(self, task: Task) -> None:
        """Take a task, for which there is room."""

    def wait(self, timeout: float) -> Sequence[Task]:
        """Wait for results and return the tasks that have some, are done or are returned."""


class WorkerPool:
    """Executor of processes on this machine, started when there is work for them.

    A process that dies is replaced, and its task tried again.
    """

    def __init__(self, *, ahead: int = PIECES_AHEAD, niceness: int = 0) -> None:
        """Begin without any process; each is given some pieces ahead."""
        self._ahead, self._niceness = ahead, niceness
        self._size = 0
        self._members: list[_Member] = []
        self._again: deque[Task] = deque()
        self._starter: threading.Thread | None = None

    @contextmanager
    def at_work(
        self,
        work: Callable[[Piece], Result],
        pieces: Sequence[Piece],
        processes: int | None = None,
    ) -> Iterator[Iterator[Result]]:
        """Give the results of the pieces in their order, from one process for each core.

        The work begins at once and ends with the context. An exception of the work is raised when
        the turn of its piece comes. One piece, or one process, is done here.
        """
        size = min(processes or len(os.sched_getaffinity(0)), len(pieces))
        if size < 2:
            yield map(work, pieces)
            return
        tasks = [Task(partial(_only, work), piece) for piece in pieces]
        todo = deque(tasks)
        self._hire(size)
        self._fill(todo)
        try:
            yield self._in_order(work, tasks, todo)
        finally:
            if left := [task for task in tasks if task.state == "submitted"]:
                for task in left:
                    task.state = "returned"
                self.close()

    def start(self, size: int) -> None:
        """Start so many processes: at once by forks, else in the background."""
        if engines_worker.may_fork():  # which is quick
            self._hire(size)
            return
        self._size = size
        self._starter = threading.Thread(target=self._hire, args=(size,), daemon=True)
        try:
            self._starter.start()
        except RuntimeError:  # the system allows no more threads
            self._starter = None

    def has_workers(self) -> bool:
        """Tell whether there are processes, or some are starting."""
        return bool(self._members) or self._is_starting()

    def has_room(self) -> bool:
        """Tell whether a process has fewer pieces than it is given ahead."""
        self._dismiss_idle()
        return not self._again and any(len(one.tasks) < self._ahead for one in self._members)

    def submit(self, task: Task) -> None:
        """Give a task to the process with the fewest."""
        min(self._members, key=lambda member: len(member.tasks)).give(task)

    def wait(self, timeout: float | None = None) -> Sequence[Task]:
        """Wait for results and return the tasks that have some, are done or are returned."""
        busy = {member.worker.pipe: member for member in list(self._members) if member.tasks}
        if not busy:
            if self._starter:
                self._starter.join(timeout)
            return []
        tasks: list[Task] = []
        for pipe in wait(list(busy), timeout):
            assert isinstance(pipe, Connection)
            try:
                tasks.append(busy[pipe].take())
            except (EOFError, OSError):
                busy[pipe].note_death()
                self._dismiss(busy[pipe])
                tasks += self._try_again()
        return tasks

    def close(self) -> None:
        """End all processes at once; they are started again when there is work."""
        self._size = 0
        if self._starter:
            self._starter.join()
        for member in list(self._members):
            self._dismiss(member)

    def _in_order(
        self, work: Callable[[Piece], Result], tasks: Sequence[Task], todo: deque[Task]
    ) -> Iterator[Result]:
        for task in tasks:
            self._fill(todo)
            while task.state == "submitted":
                self.wait()
                self._fill(todo)
            if task.state == "new":  # all processes have enough to do, or there is none
                todo.remove(task)
            yield task.results.popleft() if task.state == "done" else work(task.piece)

    def _fill(self, todo: deque[Task]) -> None:
        while todo and self.has_room():
            self.submit(todo.popleft())

    def _is_starting(self) -> bool:
        return bool(self._starter and self._starter.is_alive())

    def _hire(self, size: int) -> None:
        """Start processes until there are so many, or the system allows no more."""
        self._size = size
        self._dismiss_idle()
        with suppress(OSError):
            while len(self._members) < self._size:
                self._members.append(_Member(Worker(IDLE, self._niceness)))

    def _dismiss_idle(self) -> None:
        """Forget the processes that have ended because they had no work."""
        for member in list(self._members):
            if not member.tasks and member.worker.pipe.poll():
                self._dismiss(member)

    def _dismiss(self, member: "_Member") -> None:
        self._members.remove(member)
        member.worker.close()
        self._again.extendleft(task for task in reversed(member.tasks) if task.state == "submitted")

    def _try_again(self) -> list[Task]:
        """Give the tasks of processes that died to others; return those that the caller must do."""
        if not self._is_starting():
            self._hire(self._size)
        returned: list[Task] = []
        while self._again:
            task = self._again.popleft()
            if task.deaths < TRIES and self._members:
                self.submit(task)
                continue
            if task.deaths >= TRIES:
                log.warning(
                    "Helper processes died twice over %s; the service does it itself.", task
                )
            task.state = "returned"
            returned.append(task)
        return returned


class _Member:
    """A process and its tasks, in the order in which it answers."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.tasks: deque[Task] = deque()

    def give(self, task: Task) -> None:
        """Send a task; that the process has died is noticed when its results are read."""
        task.state = "submitted"
        self.tasks.append(task)
        with suppress(OSError):
            self.worker.send(task.work, task.piece)

    def take(self) -> Task:
        """Take a message about the first task, and return that. Raises OSError and EOFError."""
        task = self.tasks[0]
        message = self.worker.receive()
        if message in (DONE, FAILED):
            self.tasks.popleft()
            task.state = "done" if message == DONE else "returned"
        else:
            task.results.append(pickle.loads(message))
        return task

    def note_death(self) -> None:
        """Note that the process died over the task that it had begun last."""
        self.tasks[max(self.worker.begun(), 1) - 1].deaths += 1


def in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], processes: int | None = None
) -> Iterator[Result]:
    """Yield the result of each piece in order, from forks where this process may make some."""
    if not engines_worker.may_fork():
        yield from map(work, pieces)
        return
    with (
        closing(WorkerPool()) as pool,
        pool.at_work(work, pieces, processes) as results,
    ):
        yield from results


def _only(work: Callable[[Piece], Result], piece: Piece) -> Iterator[Result]:
    """Yield the only result of a piece."""
    yield work(piece)

"""Worker pool for scans and packages."""

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
"""Pieces queued for each process, to keep it at work while its parent is busy."""
IDLE = 30.0
"""Seconds without work after which a process ends."""
TRIES = 2
"""Processes that may die over a piece before the caller processes it."""


class Task:
    """Piece of work in an executor, with its results so far.

    In the state `returned`, the caller must process the piece: the work raised an exception, or
    TRIES processes died over it. Some of its results may have arrived before.
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
    """Processes that run tasks, on this machine or on others."""

    def has_workers(self) -> bool:
        """Return whether processes exist or are starting."""

    def has_room(self) -> bool:
        """Return whether a process needs another task to stay at work."""

    def submit(self, task: Task) -> None:
        """Submit a task; the executor must have room."""

    def wait(self, timeout: float) -> Sequence[Task]:
        """Wait for results; return the tasks that have some, are done or are returned."""


class WorkerPool:
    """Executor with processes on this machine, which start when there is work.

    A process that dies is replaced, and its task runs again.
    """

    def __init__(self, *, ahead: int = PIECES_AHEAD, niceness: int = 0) -> None:
        """Create a pool without processes; each will queue up to `ahead` pieces."""
        self._ahead, self._niceness = ahead, niceness
        self._size = 0
        self._members: list[_Member] = []
        self._retries: deque[Task] = deque()
        self._starter: threading.Thread | None = None

    @contextmanager
    def at_work(
        self,
        work: Callable[[Piece], Result],
        pieces: Sequence[Piece],
        processes: int | None = None,
    ) -> Iterator[Iterator[Result]]:
        """Give the results of the pieces in order, from one process for each core.

        The work starts at once and ends with the context. An exception of the work is raised in
        place of the result of its piece. With one piece or one process, this process works alone.
        """
        size = min(processes or len(os.sched_getaffinity(0)), len(pieces))
        if size < 2:
            yield map(work, pieces)
            return
        tasks = [Task(partial(_single, work), piece) for piece in pieces]
        todo = deque(tasks)
        self._hire(size)
        self._fill(todo)
        try:
            yield self._in_order(work, tasks, todo)
        finally:
            if unfinished := [task for task in tasks if task.state == "submitted"]:
                for task in unfinished:
                    task.state = "returned"
                self.close()

    def start(self, size: int) -> None:
        """Start `size` processes: at once by forking, otherwise in the background."""
        if engines_worker.may_fork():  # forking is quick
            self._hire(size)
            return
        self._size = size
        self._starter = threading.Thread(target=self._hire, args=(size,), daemon=True)
        try:
            self._starter.start()
        except RuntimeError:  # the system allows no more threads
            self._starter = None

    def has_workers(self) -> bool:
        """Return whether processes exist or are starting."""
        return bool(self._members) or self._is_starting()

    def has_room(self) -> bool:
        """Return whether a process has fewer pieces than it may queue."""
        self._dismiss_idle()
        return not self._retries and any(
            len(member.tasks) < self._ahead for member in self._members
        )

    def submit(self, task: Task) -> None:
        """Submit a task to the process with the fewest tasks."""
        min(self._members, key=lambda member: len(member.tasks)).submit(task)

    def wait(self, timeout: float | None = None) -> Sequence[Task]:
        """Wait for results; return the tasks that have some, are done or are returned."""
        busy = {member.worker.pipe: member for member in list(self._members) if member.tasks}
        if not busy:
            if self._starter:
                self._starter.join(timeout)
            return []
        tasks: list[Task] = []
        for pipe in wait(list(busy), timeout):
            assert isinstance(pipe, Connection)
            try:
                tasks.append(busy[pipe].receive())
            except (EOFError, OSError):
                busy[pipe].note_death()
                self._dismiss(busy[pipe])
                tasks += self._retry()
        return tasks

    def close(self) -> None:
        """End all processes at once; new ones start when there is work."""
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
            if task.state == "new":  # all processes are busy, or none exists
                todo.remove(task)
            yield task.results.popleft() if task.state == "done" else work(task.piece)

    def _fill(self, todo: deque[Task]) -> None:
        while todo and self.has_room():
            self.submit(todo.popleft())

    def _is_starting(self) -> bool:
        return bool(self._starter and self._starter.is_alive())

    def _hire(self, size: int) -> None:
        """Start processes up to `size`, or as many as the system allows."""
        self._size = size
        self._dismiss_idle()
        with suppress(OSError):
            while len(self._members) < self._size:
                self._members.append(_Member(Worker(IDLE, self._niceness)))

    def _dismiss_idle(self) -> None:
        """Remove the processes that have ended because they were idle."""
        for member in list(self._members):
            if not member.tasks and member.worker.pipe.poll():
                self._dismiss(member)

    def _dismiss(self, member: "_Member") -> None:
        self._members.remove(member)
        member.worker.close()
        self._retries.extendleft(
            task for task in reversed(member.tasks) if task.state == "submitted"
        )

    def _retry(self) -> list[Task]:
        """Resubmit the tasks of processes that died; return those for the caller to process."""
        if not self._is_starting():
            self._hire(self._size)
        returned: list[Task] = []
        while self._retries:
            task = self._retries.popleft()
            if task.deaths < TRIES and self._members:
                self.submit(task)
                continue
            if task.deaths >= TRIES:
                log.warning("Worker processes died twice over %s; this process takes over.", task)
            task.state = "returned"
            returned.append(task)
        return returned


class _Member:
    """Process and its tasks, in the order of their results."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        """Send a task; the death of the process shows when its results are read."""
        task.state = "submitted"
        self.tasks.append(task)
        with suppress(OSError):
            self.worker.send(task.work, task.piece)

    def receive(self) -> Task:
        """Receive a message about the first task; return the task. Raises OSError and EOFError."""
        task = self.tasks[0]
        message = self.worker.receive()
        if message in (DONE, FAILED):
            self.tasks.popleft()
            task.state = "done" if message == DONE else "returned"
        else:
            task.results.append(pickle.loads(message))
        return task

    def note_death(self) -> None:
        """Count the death of the process for the task that it started last."""
        self.tasks[max(self.worker.started_count(), 1) - 1].deaths += 1


def in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], processes: int | None = None
) -> Iterator[Result]:
    """Yield the result of each piece in order, from forks if this process may fork."""
    if not engines_worker.may_fork():
        yield from map(work, pieces)
        return
    with (
        closing(WorkerPool()) as pool,
        pool.at_work(work, pieces, processes) as results,
    ):
        yield from results


def _single(work: Callable[[Piece], Result], piece: Piece) -> Iterator[Result]:
    """Yield the only result of a piece."""
    yield work(piece)

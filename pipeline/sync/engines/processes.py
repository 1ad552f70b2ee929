"""Engines on this machine: this process alone, or one process for each core."""

import gc
import logging
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, repeat
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import TypeAlias

from catalog.model.change import Judged
from catalog.model.errors import RootUnreadable
from pipeline.roots.local.descent import LooseFinding
from pipeline.sync.engines import fork_pool
from pipeline.sync.engines import worker as engines_worker
from pipeline.sync.engines.partition import apart, is_worth_sharing, pieces
from pipeline.sync.engines.scanner import (
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    scan,
)
from pipeline.sync.engines.worker import Worker

log = logging.getLogger("skilldrop")

Engine: TypeAlias = Callable[[ScanScope, ScanOptions], Iterator[ScanResult | None]]
"""Looks at a part of a root and yields what was seen, or None while it waits for a process.

Raises RootUnreadable.
"""

PATHS_IN_A_PIECE = 16
"""Few enough that the cores end together, many enough that sending them costs little."""
PATHS_IN_A_COMPARISON = 256
"""Enough that two forks are not worth it for a few folders, few enough to stop soon."""
PATIENCE = 0.2
"""Seconds after which who asked may do something else."""
PIECES_AHEAD = 24
"""So many that a process has work while this one stores a batch."""
LEFT_TO_OTHERS = 48
"""Pieces that wait for the processes to start; more than these are begun by who has asked."""
SEEN_IN_AN_ANSWER = 16
"""Enough that sending them costs little beside it."""
ANSWERS_AHEAD = 24
"""What waits of one process, and no more, however many folders there are in a piece: it is held
in memory."""
TRIES = 2
"""Processes that may die over a piece before it is looked at by the one that asked."""


def serial(part: ScanScope, how: ScanOptions) -> Iterator[ScanResult | None]:
    """Look at one folder after the other in this process."""
    return scan(part, how)


def processes(part: ScanScope, how: ScanOptions) -> Iterator[ScanResult | None]:
    """Look with as many processes as there are cores, while this one goes on storing.

    Where little is to be read this process does it alone, and so it does until the others have
    started. A process that dies is replaced, and its piece tried again; two deaths over one piece,
    and this process looks at it. What is seen comes in no particular order.
    """
    paths = apart(part, how)
    if not is_worth_sharing(part, how, paths):
        yield from _compared(part, how, paths)
        return
    todo = deque(map(_Piece, pieces(part, paths, PATHS_IN_A_PIECE)))
    answers: _Answers = SimpleQueue()
    helpers = [_Helper(how, answers) for _ in os.sched_getaffinity(0)]
    alive = set(helpers)
    has_heard = False
    collects = gc.isenabled()
    gc.disable()  # what comes holds no cycles, and there is so much of it
    try:
        if engines_worker.may_fork():  # that is quick, and must be done before there are threads
            with suppress(OSError):
                for helper in helpers:
                    helper.start()
        for helper in helpers:
            helper.listen()
        while alive and (todo or any(helper.asked for helper in alive)):
            for helper in chain.from_iterable(repeat(alive, PIECES_AHEAD)):
                helper.ask(todo)
            if len(todo) > LEFT_TO_OTHERS and not has_heard and answers.empty():
                yield from todo.pop().look(how)
                continue
            try:
                helper, answer = answers.get(timeout=PATIENCE)
            except Empty:
                yield None
                continue
            if answer is None:
                alive.discard(helper)
                if helper.asked:
                    todo.extendleft(reversed(helper.left_undone()))
                    helpers.append(_Helper(how, answers))
                    alive.add(helpers[-1])
                    helpers[-1].listen()
                if todo and todo[0].deaths >= TRIES:
                    log.warning(
                        "Helper processes died twice over %s; the service reads it itself.", todo[0]
                    )
                    yield from todo.popleft().look(how)
            elif answer != _STARTED:
                has_heard = True
                yield from helper.taken(answer)
        for piece in todo:
            yield from piece.look(how)
    finally:
        if collects:
            gc.enable()
        for helper in helpers:
            helper.end()


@dataclass
class _Piece:
    """A part to be looked at, and how far others have come with it."""

    part: ScanScope
    told: set[object] = field(default_factory=set)  # by the one that looks now
    told_before: set[object] = field(default_factory=set)  # by those that died
    deaths: int = 0

    def __str__(self) -> str:
        return f"{self.part.root.path}/{self.part.paths[0]} and what follows"

    def look(self, how: ScanOptions) -> Iterator[ScanResult]:
        """Look at what nobody has told of."""
        return self.fresh(scan(self.part, how))

    def fresh(self, seen: Iterable[ScanResult]) -> Iterator[ScanResult]:
        """Yield what those that died had not told."""
        for one in seen:
            name = _name(one)
            self.told.add(name)
            if name not in self.told_before:
                yield one

    def died(self) -> None:
        """Note that a process has died over it."""
        self.deaths += 1
        self.told_before |= self.told


class _Helper:
    """A process that looks at one piece after the other, and a thread that takes its answers.

    Unless it has been started, the thread does it, so that nobody waits for that. Then the thread
    only moves bytes: were it to unpickle them, it would take turns with SQLite for the
    interpreter's lock, a row at a time.
    """

    def __init__(self, how: ScanOptions, answers: "_Answers") -> None:
        self.asked: deque[_Piece] = deque()
        self._how = how
        self._answers = answers
        self._room = threading.Semaphore(ANSWERS_AHEAD)
        self._is_wanted = True
        self._worker: Worker | None = None
        self._has_started = threading.Event()  # or failed to
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def start(self) -> None:
        """Start the process. Raises OSError."""
        self._worker = Worker(_serve, self._how)

    def listen(self) -> None:
        """Begin to take its answers; where the system allows no more threads there will be none."""
        try:
            self._listener.start()
        except RuntimeError:
            self._answers.put((self, None))

    def ask(self, todo: "deque[_Piece]") -> None:
        """Give it a piece, once it is there, unless it has enough. If it dies, its thread tells."""
        if self._worker and todo and len(self.asked) < PIECES_AHEAD:
            self.asked.append(todo.popleft())
            with suppress(OSError):
                self._worker.pipe.send(self.asked[-1].part)

    def taken(self, answer: bytes) -> Iterator[ScanResult]:
        """Yield what it has seen. Raises RootUnreadable."""
        self._room.release()
        if answer == _DONE:
            self.asked.popleft()
            return
        seen: list[ScanResult] | RootUnreadable = pickle.loads(answer)
        if isinstance(seen, RootUnreadable):
            raise seen
        yield from self.asked[0].fresh(seen)

    def left_undone(self) -> list[_Piece]:
        """Return what it was asked for and, being dead, has not done; it died over the first."""
        undone = list(self.asked)
        undone[0].died()
        self.asked.clear()
        return undone

    def end(self) -> None:
        """End it at once: what it may be doing is wanted no more."""
        self._is_wanted = False
        is_listening = self._listener.ident is not None  # not where it was interrupted before
        if is_listening:
            self._has_started.wait()
        if self._worker:
            self._worker.end()
        self._room.release()
        if is_listening:
            self._listener.join()
        if self._worker:
            self._worker.pipe.close()

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            try:
                if not self._worker:
                    self.start()
            finally:
                self._has_started.set()
            assert self._worker
            self._answers.put((self, _STARTED))
            while True:
                answer = self._worker.pipe.recv_bytes()
                if self._is_wanted:
                    self._room.acquire()
                self._answers.put((self, answer))
        self._answers.put((self, None))


_Answers: TypeAlias = "SimpleQueue[tuple[_Helper, bytes | None]]"
_DONE = b""
_STARTED = b"started"  # no pickle


def _name(seen: ScanResult) -> object:
    """Return what tells one thing that was seen in a piece from the others."""
    if isinstance(seen, Judged):
        return seen.verdict.place.path
    return seen if isinstance(seen, (LooseFinding, UnreadableDirectory)) else seen.path


def _serve(pipe: Connection, how: ScanOptions) -> None:
    """Answer pieces with what is seen in them, until nobody asks any more."""
    os.nice(5)  # who stores what is seen here comes first: all wait for it
    asked: SimpleQueue[ScanScope | None] = SimpleQueue()
    threading.Thread(target=_take_questions, args=(pipe, asked), daemon=True).start()
    while piece := asked.get():
        for answer in _looked(piece, how):
            pipe.send_bytes(answer)


def _take_questions(pipe: Connection, asked: "SimpleQueue[ScanScope | None]") -> None:
    """Take requests at once, so that two processes never wait for each other to read."""
    with suppress(EOFError, OSError):
        while True:
            asked.put(pipe.recv())
    asked.put(None)


def _looked(piece: ScanScope, how: ScanOptions) -> Iterator[bytes]:
    """Yield what is seen in a piece, a few folders at a time, and then that this was all."""
    seen = scan(piece, how)
    try:
        while some := list(islice(seen, SEEN_IN_AN_ANSWER)):
            yield pickle.dumps(some, pickle.HIGHEST_PROTOCOL)
    except RootUnreadable as error:
        yield pickle.dumps(error)
    yield _DONE


def _compared(
    part: ScanScope, how: ScanOptions, paths: Sequence[str]
) -> Iterator[ScanResult | None]:
    """Look at folders that are all but a few known: to fork is quick, and nothing is read.

    Forks are made where this process has no other thread; a service does it alone.
    """
    some = list(pieces(part, paths, PATHS_IN_A_COMPARISON))
    for unchanged, others in fork_pool.in_order(partial(_sorted_out, how), some):
        yield from map(Unchanged, unchanged)
        yield from others
        yield None


def _sorted_out(how: ScanOptions, piece: ScanScope) -> tuple[list[str], list[ScanResult]]:
    """Return the paths that are unchanged, which are quicker to send than what says so."""
    unchanged: list[str] = []
    others: list[ScanResult] = []
    for seen in scan(piece, how):
        if isinstance(seen, Unchanged):
            unchanged.append(seen.path)
        else:
            others.append(seen)
    return unchanged, others

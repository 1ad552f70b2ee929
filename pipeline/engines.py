"""Who looks at a part of a root: this process itself, or one for every core."""

import gc
import os
import pickle
import signal
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeAlias

from catalog.errors import RootUnreadable
from pipeline import disk, forked
from pipeline.scan import How, Part, Seen, Unchanged, look

Engine: TypeAlias = Callable[[Part, How], Iterator[Seen | None]]
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
WORTH_IT = 512
"""Paths to read from which on other processes are started: that alone takes half a second."""


def serial(part: Part, how: How) -> Iterator[Seen | None]:
    """Look at one folder after the other in this process."""
    return look(part, how)


def processes(part: Part, how: How) -> Iterator[Seen | None]:
    """Look with as many processes as there are cores, while this one goes on storing.

    Where little is to be read this process does it alone, and so it does the rest of the work
    should all the others die. What is seen comes in no particular order.
    """
    paths = apart(part, how)
    if not is_worth_sharing(part, how, paths):
        yield from _compared(part, how, paths)
        return
    todo = deque(pieces(part, paths, PATHS_IN_A_PIECE))
    answers: _Answers = SimpleQueue()
    helpers = [_Helper(how, answers) for _ in os.sched_getaffinity(0)]
    alive = set(helpers)
    gc.freeze()  # with so much to come, the collector need not go through what is here each time
    try:
        while alive and (todo or any(helper.asked for helper in alive)):
            for helper in alive:
                helper.ask(todo)
            try:
                helper, answer = answers.get(timeout=PATIENCE)
            except Empty:
                yield None
                continue
            if answer is None:
                alive.discard(helper)
                todo.extend(helper.asked)
            else:
                helper.asked.popleft()
                yield from _unpacked(answer)
        for piece in todo:
            yield from look(piece, how)
    finally:
        gc.unfreeze()
        for helper in helpers:
            helper.end()


class _Helper:
    """A process that looks at one piece after the other, and a thread that takes its answers.

    The thread only moves bytes: were it to unpickle them, it would take turns with SQLite for
    the interpreter's lock, a row at a time.
    """

    def __init__(self, how: How, answers: "_Answers") -> None:
        self.asked: deque[Part] = deque()
        self._answers = answers
        # Not forked: a service has threads, whose locks a fork would copy as they happen to be.
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, how), daemon=True)
        with _interrupts_held_back():
            self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, todo: deque[Part]) -> None:
        """Give it pieces until it has enough. If it is dead, its thread will tell."""
        while todo and len(self.asked) < PIECES_AHEAD:
            self.asked.append(todo.popleft())
            with suppress(OSError):
                self._pipe.send(self.asked[-1])

    def end(self) -> None:
        """End it at once: what it may be doing is wanted no more."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _listen(self) -> None:
        try:
            while True:
                self._answers.put((self, self._pipe.recv_bytes()))
        except (EOFError, OSError):
            self._answers.put((self, None))


_Answers: TypeAlias = "SimpleQueue[tuple[_Helper, bytes | None]]"


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let a process start with a Ctrl-C held back, which is for us; it inherits that."""
    resource_tracker.ensure_running()  # started later, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, how: How) -> None:
    """Answer pieces with what is seen in them, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)  # who stores what is seen here comes first: all wait for it
    gc.disable()  # what is made here is pickled and dropped, and holds no cycles
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_looked(pipe.recv(), how))


def _looked(piece: Part, how: How) -> bytes:
    try:
        return pickle.dumps(list(look(piece, how)), pickle.HIGHEST_PROTOCOL)
    except RootUnreadable as error:
        return pickle.dumps(error)


def _unpacked(answer: bytes) -> list[Seen]:
    seen: list[Seen] | RootUnreadable = pickle.loads(answer)
    if isinstance(seen, RootUnreadable):
        raise seen
    return seen


def _compared(part: Part, how: How, paths: Sequence[str]) -> Iterator[Seen | None]:
    """Look at folders that are all but a few known: to fork is quick, and nothing is read.

    Forks are made where this process has no other thread; a service does it alone.
    """
    some = list(pieces(part, paths, PATHS_IN_A_COMPARISON))
    for unchanged, others in forked.in_order(partial(_sorted_out, how), some):
        yield from map(Unchanged, unchanged)
        yield from others
        yield None


def _sorted_out(how: How, piece: Part) -> tuple[list[str], list[Seen]]:
    """Return the paths that are unchanged, which are quicker to send than what says so."""
    unchanged: list[str] = []
    others: list[Seen] = []
    for seen in look(piece, how):
        if isinstance(seen, Unchanged):
            unchanged.append(seen.path)
        else:
            others.append(seen)
    return unchanged, others


def apart(part: Part, how: How) -> list[str]:
    """Return paths that together are the part, enough of them to share out where there are."""
    return disk.taken_apart(Path(part.root.path), part.paths, WORTH_IT, how.limits.depth)


def is_worth_sharing(part: Part, how: How, paths: Sequence[str]) -> bool:
    """Tell whether so much is to be read that it pays to start processes elsewhere."""
    known = 0 if how.deep else sum(map(bool, part.known.values()))
    return len(paths) - known >= WORTH_IT


def pieces(part: Part, paths: Sequence[str], size: int) -> Iterator[Part]:
    """Yield a part in pieces of so many paths, each with what is known at or below them."""
    known = sorted(part.known)
    for start in range(0, len(paths), size):
        some = tuple(paths[start : start + size])
        yield replace(part, paths=some, known={
            name: part.known[name] for path in some for name in _at_or_below(known, path)})


def _at_or_below(names: Sequence[str], path: str) -> Iterator[str]:
    """Yield the sorted names that are a path or lie below it."""
    if not path:
        yield from names
        return
    at = bisect_left(names, path)
    if at < len(names) and names[at] == path:
        yield path
    # "0" follows "/" in code points.
    yield from names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]

"""Who looks at a part of a root: this process itself, or one for every core."""

import gc
import os
import pickle
import signal
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Literal, TypeAlias

from pipeline import disk
from pipeline.scan import How, Part, Seen, look

EngineName: TypeAlias = Literal["serial", "processes"]
Engine: TypeAlias = Callable[[Part, How], Iterator[Seen | None]]
"""Looks at a part of a root and yields what was seen, or None while it waits for a process.

Raises RootUnreadable.
"""

PATHS_IN_A_PIECE = 16
"""Few enough that the cores end together, many enough that sending them costs little."""
PATIENCE = 0.2
"""Seconds after which who asked may do something else."""
PIECES_AHEAD = 64
"""So many that the others have work while this process stores a batch."""
WORTH_IT = 512
"""Paths to read from which on other processes are started: that alone takes half a second."""


def serial(part: Part, how: How) -> Iterator[Seen | None]:
    """Look at one folder after the other in this process."""
    return look(part, how)


def processes(part: Part, how: How) -> Iterator[Seen | None]:
    """Look with as many processes as there are cores, while this one goes on storing.

    Where little is to be read this process does it alone, and so it does the rest of the work
    should one of the others die.
    """
    paths = _split(part)
    known = 0 if how.deep else sum(map(bool, part.known.values()))
    if len(paths) - known < WORTH_IT:
        yield from look(part, how)
        return
    todo = deque(_pieces(part, paths))
    under_way: deque[tuple[Part, Future[bytes]]] = deque()
    # Not forked: a service has threads, whose locks a fork would copy as they happen to be.
    pool = ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn"), _prepare)
    try:
        while todo or under_way:
            while todo and len(under_way) < PIECES_AHEAD:
                with _interrupts_held_back():
                    under_way.append((todo[0], pool.submit(_looked, todo[0], how)))
                todo.popleft()  # only now: where a process died, the line above raises
            try:
                seen: list[Seen] = pickle.loads(under_way[0][1].result(PATIENCE))
            except TimeoutError:
                yield None
                continue
            under_way.popleft()
            yield from seen
    except BrokenProcessPool:
        for piece in (*(piece for piece, _ in under_way), *todo):
            yield from look(piece, how)
    finally:
        # Not waited for: one that was interrupted may never answer, and all else is thrown away.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.kill()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let processes start with a Ctrl-C held back, which is for us; they inherit it so."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Let a process of the pool waste no time, and not outlive its parent."""
    gc.disable()  # what is made here is pickled and dropped, and holds no cycles
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _looked(part: Part, how: How) -> bytes:
    """Return what was seen, pickled.

    Left to itself the pool would unpickle it in a thread, which takes turns with SQLite for the
    interpreter's lock, a row at a time.
    """
    return pickle.dumps(list(look(part, how)), pickle.HIGHEST_PROTOCOL)


def _split(part: Part) -> list[str]:
    """Return paths that together are the part, going down until there are enough of them."""
    root = Path(part.root.path)
    paths, whole = list(part.paths), [False] * len(part.paths)
    while len(paths) < WORTH_IT and not all(whole):
        below: list[tuple[str, bool]] = []
        for path, is_whole in zip(paths, whole, strict=True):
            children = None if is_whole else disk.entries(root, path)
            below += [(path, True)] if children is None else [(name, False) for name in children]
        paths, whole = [path for path, _ in below], [is_whole for _, is_whole in below]
    return paths


def _pieces(part: Part, paths: Sequence[str]) -> Iterator[Part]:
    known = sorted(part.known)
    for start in range(0, len(paths), PATHS_IN_A_PIECE):
        some = tuple(paths[start : start + PATHS_IN_A_PIECE])
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


ENGINES: dict[EngineName, Engine] = {"serial": serial, "processes": processes}

"""Worker processes; each ends when this process does."""

import errno
import gc
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkServerContext
from socket import SHUT_RDWR, socket
from typing import Concatenate, ParamSpec

Given = ParamSpec("Given")

_PRELOADED = [
    "pipeline.sync.engines.scanner",
    "pipeline.sync.package_sources",
    "catalog.writing.packages.builder",
]
"""What is imported once for all that are not forked: each would take a quarter of a second."""


class Worker:
    """A process at the other end of a pipe."""

    def __init__(
        self,
        serve: Callable[Concatenate[Connection, Given], None],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> None:
        """Start a process that calls a function of some module with its end of the pipe.

        Raises OSError.
        """
        context = _context()
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_served, args=(serve, theirs, given, named), daemon=True
        )
        try:
            with _interrupts_held_back():
                self._process.start()
        except EOFError as error:  # click would take it for an interrupt, and end without a word
            self.pipe.close()
            raise OSError(errno.ECHILD, "the process that starts the others ended") from error
        except OSError:
            self.pipe.close()
            raise
        finally:
            theirs.close()

    def end(self) -> None:
        """End it at once, whatever it is doing; who reads the pipe meets its end.

        One whose fork server was killed counts as ended, and is sent no signal: it ends at its
        next word.
        """
        self._process.kill()
        with socket(fileno=os.dup(self.pipe.fileno())) as pipe, suppress(OSError):
            pipe.shutdown(SHUT_RDWR)
        self._process.join()


def _context() -> ForkContext | ForkServerContext:
    if may_fork():
        return get_context("fork")  # all is imported: a hundredth of what the other takes
    # Where somebody ended it, it is started again; it keeps no state of skilldrop.
    warnings.filterwarnings("ignore", "resource_tracker: process died", UserWarning)
    resource_tracker.ensure_running()  # started later, it would let interrupts through again
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let a process start with a Ctrl-C held back, which is for us; it inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _served(
    serve: Callable[..., None],
    pipe: Connection,
    given: tuple[object, ...],
    named: dict[str, object],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # not what a fork has of the one it works for
    gc.disable()  # what is made here is sent away and dropped, and holds no cycles
    threading.Thread(target=_end_with_asker, daemon=True).start()
    # Nobody asks any more, or the work failed: what is left undone is done by others, who say so.
    with suppress(Exception):
        serve(pipe, *given, **named)


def _end_with_asker() -> None:
    """End this process as soon as the one it works for is gone: another may follow that one.

    A fork holds the pipes of those forked before it, which thus learn of it when that has ended.
    """
    if asker := parent_process():
        wait([asker.sentinel])
        os._exit(1)


def may_fork() -> bool:
    """Tell whether Python has no other thread, whose locks a fork would copy as they are."""
    return threading.active_count() == 1

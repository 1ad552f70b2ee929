"""Worker process: does pieces of work and ends when its parent does."""

import errno
import gc
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkServerContext
from queue import Empty, Queue, SimpleQueue
from socket import SHUT_RDWR, socket
from typing import Any

DONE = b""
"""Message after the last result of a piece."""
FAILED = b"failed"
"""Message that the work on a piece raised; no pickle begins like this."""
MESSAGES_AHEAD = 24
"""Messages that wait in a process until its parent takes them. They are held in memory, so there
are no more than these, however many results a piece has."""

_PRELOADED = [
    "pipeline.sync.engines.scanner",
    "pipeline.sync.package_sources",
    "catalog.writing.packages.builder",
]
"""Modules that the fork server imports once: each process would take a quarter of a second."""


class Worker:
    """A process at the other end of a pipe, which does one piece after the other."""

    def __init__(self, idle: float, niceness: int) -> None:
        """Start a process that ends after some idle seconds. Raises OSError."""
        context = _context()
        self.pipe, theirs = context.Pipe()
        self._begun, begun = context.Pipe(duplex=False)
        os.set_blocking(self._begun.fileno(), False)
        self._process = context.Process(
            target=_serve, args=(theirs, begun, idle, niceness), daemon=True
        )
        try:
            with _interrupts_blocked():
                self._process.start()
        except EOFError as error:  # click would take it for an interrupt and end silently
            self._close_pipes()
            raise OSError(errno.ECHILD, "the process that starts the others ended") from error
        except OSError:
            self._close_pipes()
            raise
        finally:
            theirs.close()
            begun.close()

    def send(self, work: Callable[[Any], Iterable[object]], piece: object) -> None:
        """Ask for the results of a piece. Raises OSError where the process has ended."""
        self.pipe.send_bytes(pickle.dumps((work, piece), pickle.HIGHEST_PROTOCOL))

    def receive(self) -> bytes:
        """Return the next message. Raises OSError or EOFError where the process has ended."""
        message = self.pipe.recv_bytes()
        if message in (DONE, FAILED):
            os.read(self._begun.fileno(), 1)
        return message

    def begun(self) -> int:
        """Return how many pieces were begun of which the last message did not come. Ask once."""
        with suppress(BlockingIOError):
            return len(os.read(self._begun.fileno(), 65_536))
        return 0

    def close(self) -> None:
        """End the process at once, whatever it is doing.

        A process whose fork server was killed counts as ended and gets no signal. It ends because
        its pipe is shut down.
        """
        self._process.kill()
        with socket(fileno=os.dup(self.pipe.fileno())) as pipe, suppress(OSError):
            pipe.shutdown(SHUT_RDWR)
        self._process.join()
        self._close_pipes()

    def _close_pipes(self) -> None:
        self.pipe.close()
        self._begun.close()


def may_fork() -> bool:
    """Tell whether Python has no other thread, whose locks a fork would copy as they are."""
    return threading.active_count() == 1


def _context() -> ForkContext | ForkServerContext:
    if may_fork():
        return get_context("fork")  # all is imported: a hundredth of what the other takes
    # A fork server that was ended is started again; it keeps no state of skilldrop.
    warnings.filterwarnings("ignore", "resource_tracker: process died", UserWarning)
    resource_tracker.ensure_running()  # started later, it would unblock interrupts
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Start a process with Ctrl-C blocked, which it inherits: it is meant for the parent."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker process


def _serve(pipe: Connection, begun: Connection, idle: float, niceness: int) -> None:
    """Send the results of each piece that the parent sends, until none comes for a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # a fork has the handlers of its parent
    gc.disable()  # results are sent and dropped, and hold no cycles
    os.nice(niceness)
    requests: SimpleQueue[bytes] = SimpleQueue()
    messages: Queue[bytes | None] = Queue(MESSAGES_AHEAD)
    sender = threading.Thread(target=_send, args=(pipe, messages), daemon=True)
    try:
        threading.Thread(target=_receive, args=(pipe, requests), daemon=True).start()
        sender.start()
    except RuntimeError:  # the system allows no more threads
        return
    with suppress(Empty, OSError):  # idle, or the parent has closed the pipe
        while True:
            request = requests.get(timeout=idle)
            os.write(begun.fileno(), b".")  # messages wait, so they do not tell
            for message in _answer(request):
                messages.put(message)
    messages.put(None)
    sender.join()


def _answer(request: bytes) -> Iterator[bytes]:
    """Yield the messages that answer a request. The parent repeats work that raises."""
    try:
        work, piece = pickle.loads(request)
        for result in work(piece):
            yield pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  # it is raised in the parent
        yield FAILED
    else:
        yield DONE


def _send(pipe: Connection, messages: "Queue[bytes | None]") -> None:
    """Send messages while the next are made."""
    with suppress(OSError):  # the parent has gone
        while (message := messages.get()) is not None:
            pipe.send_bytes(message)
        return
    os._exit(1)


def _receive(pipe: Connection, requests: "SimpleQueue[bytes]") -> None:
    """Take requests at once, so that two processes never wait for each other to read.

    End this process as soon as its parent has ended: another may follow that one. A fork holds
    the pipes of those forked before it, which thus meet their end when that has ended.
    """
    parent = parent_process()
    assert parent
    with suppress(EOFError, OSError):
        while parent.sentinel not in wait([pipe, parent.sentinel]):
            requests.put(pipe.recv_bytes())
    os._exit(1)

"""Worker process: processes pieces of work and ends with its parent."""

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
"""Message after an exception in the work on a piece; no pickle starts with these bytes."""
MESSAGES_AHEAD = 24
"""Most messages that wait in a process until its parent reads them. They are held in memory, so
their number is limited, however many results a piece has."""

_PRELOADED = [
    "pipeline.sync.engines.judging",
    "pipeline.sync.engines.scanner",
    "pipeline.roots.archives.reader",
    "pipeline.sync.package_sources",
    "catalog.writing.packages.builder",
]
"""Modules that the fork server imports once; in each process, this would take 0.25 seconds."""


class Worker:
    """Process at the other end of a pipe, which processes one piece after the other."""

    def __init__(self, idle: float, niceness: int) -> None:
        """Start a process that ends after `idle` seconds without work. Raises OSError."""
        context = _context()
        self.pipe, worker_pipe = context.Pipe()
        self._starts, worker_starts = context.Pipe(duplex=False)
        os.set_blocking(self._starts.fileno(), False)
        self._process = context.Process(
            target=_serve, args=(worker_pipe, worker_starts, idle, niceness), daemon=True
        )
        try:
            with _interrupts_blocked():
                self._process.start()
        except EOFError as error:  # click treats EOFError as an interrupt and exits silently
            self._close_pipes()
            raise OSError(errno.ECHILD, "the process that starts the others ended") from error
        except OSError:
            self._close_pipes()
            raise
        finally:
            worker_pipe.close()
            worker_starts.close()

    def send(self, work: Callable[[Any], Iterable[object]], piece: object) -> None:
        """Request the results of a piece. Raises OSError if the process has ended."""
        self.pipe.send_bytes(pickle.dumps((work, piece), pickle.HIGHEST_PROTOCOL))

    def receive(self) -> bytes:
        """Return the next message. Raises OSError or EOFError if the process has ended."""
        message = self.pipe.recv_bytes()
        if message in (DONE, FAILED):
            os.read(self._starts.fileno(), 1)
        return message

    def started_count(self) -> int:
        """Return the number of pieces started without a final message yet. Call it only once."""
        with suppress(BlockingIOError):
            return len(os.read(self._starts.fileno(), 65_536))
        return 0

    def close(self) -> None:
        """End the process at once, even while it works.

        If its fork server was killed, the process counts as ended and gets no signal. Then the
        shutdown of its pipe ends it.
        """
        self._process.kill()
        with socket(fileno=os.dup(self.pipe.fileno())) as pipe, suppress(OSError):
            pipe.shutdown(SHUT_RDWR)
        self._process.join()
        self._close_pipes()

    def _close_pipes(self) -> None:
        self.pipe.close()
        self._starts.close()


def may_fork() -> bool:
    """Return whether Python runs only one thread: a fork copies the held locks of others."""
    return threading.active_count() == 1


def _context() -> ForkContext | ForkServerContext:
    if may_fork():
        return get_context("fork")  # all modules are imported: a hundred times faster
    # A fork server that ended is started again; it holds no state of skilldrop.
    warnings.filterwarnings("ignore", "resource_tracker: process died", UserWarning)
    resource_tracker.ensure_running()  # starting it later would unblock interrupts
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, which is meant for the parent; a process started now inherits this."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker process


def _serve(pipe: Connection, starts: Connection, idle: float, niceness: int) -> None:
    """Send the results of each requested piece, until no request arrives for `idle` seconds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # a fork inherits the handlers of its parent
    gc.disable()  # results are sent and dropped; they hold no cycles
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
            os.write(starts.fileno(), b".")  # queued messages may not reach the parent
            for message in _answer(request):
                messages.put(message)
    messages.put(None)
    sender.join()


def _answer(request: bytes) -> Iterator[bytes]:
    """Yield the reply to a request. The parent repeats work that raises an exception."""
    try:
        work, piece = pickle.loads(request)
        for result in work(piece):
            yield pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  # the parent raises it
        yield FAILED
    else:
        yield DONE


def _send(pipe: Connection, messages: "Queue[bytes | None]") -> None:
    """Send messages while the next ones are being made."""
    with suppress(OSError):  # the parent has ended
        while (message := messages.get()) is not None:
            pipe.send_bytes(message)
        return
    os._exit(1)


def _receive(pipe: Connection, requests: "SimpleQueue[bytes]") -> None:
    """Queue requests at once, so that two processes never wait for each other to read.

    End this process as soon as its parent has ended, as a new parent may already be starting. A
    fork keeps the pipes of earlier forks open, so these see the end of file only once it has ended.
    """
    parent = parent_process()
    assert parent
    with suppress(EOFError, OSError):
        while parent.sentinel not in wait([pipe, parent.sentinel]):
            requests.put(pipe.recv_bytes())
    os._exit(1)

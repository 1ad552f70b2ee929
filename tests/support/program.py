"""`skilldrop` as its users call it, in the process of the tests.

A new process imports everything again, which takes longer than most commands. Tests of processes,
signals, terminals and users start one.
"""

import io
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from subprocess import CompletedProcess

import pytest

from pipeline.cli import entry

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""Signals that a command may handle."""


def run(*words: object, **environment: str) -> CompletedProcess[str]:
    """Run a command to its end, as `run_raw` does; return its output as text."""
    done = run_raw(*words, **environment)
    return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_raw(*words: object, **environment: str) -> CompletedProcess[bytes]:
    """Run a command to its end, with variables of its environment; return its output as bytes."""
    arguments = ["skilldrop", *map(str, words)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        for name, value in {"PYTHONSAFEPATH": "1", **environment}.items():
            patch.setenv(name, value)
        with _captured() as (output, messages), pytest.raises(SystemExit) as ended:
            entry.main()
        code = ended.value.code
        assert isinstance(code, int)
        return CompletedProcess(
            arguments, code, output.buffer.getvalue(), messages.buffer.getvalue()
        )


class _Stream(io.TextIOWrapper):
    """Standard output or error that is no terminal, in the encoding of the environment."""

    buffer: io.BytesIO

    def __init__(self) -> None:
        encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)


@contextmanager
def _captured() -> Iterator[tuple[_Stream, _Stream]]:
    """Yield the streams of a command; then restore the handlers of the log and of signals."""
    signals = {number: signal.getsignal(number) for number in SIGNALS}
    log = logging.getLogger()
    level, handlers = log.level, list(log.handlers)
    with redirect_stdout(_Stream()) as output, redirect_stderr(_Stream()) as messages:
        yield output, messages
        output.flush()
        messages.flush()
    log.setLevel(level)
    log.handlers[:] = handlers
    for number, handler in signals.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)

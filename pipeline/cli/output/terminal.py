"""Terminal output: safe text, colours and progress of long work."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from catalog.text import humanize


def echo(lines: str) -> None:
    """Print lines, without colours where there is no terminal or NO_COLOR is set.

    What the encoding of the output lacks is written as a code.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    printable = lines.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(printable, color=False if os.environ.get("NO_COLOR") else None)


def counted(number: int, word: str) -> str:
    """Return a number of things: 1 step, 2 steps, 2 info."""
    return humanize.count(number, word, "info" if word == "info" else "")


class Progress:
    """A running count on a terminal, shown once the work has taken a second."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._shown = time.monotonic()
        self._visible = False

    def __call__(self, count: int) -> None:
        """Show the count, unless one was shown a moment ago."""
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._began > 1 and now - self._shown > 0.1:
            self._shown, self._visible = now, True
            click.echo(f"\r{count:,} {self._what} …", err=True, nl=False)

    def clear(self) -> None:
        """Make room for a line of output."""
        if self._visible:
            self._visible = False
            click.echo("\r\033[K", err=True, nl=False)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Yield what shows a running count, and clear it away in the end."""
    shown = Progress(what)
    try:
        yield shown
    finally:
        shown.clear()

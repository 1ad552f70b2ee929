"""Terminal output: safe text that fits, colours, progress of long work."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import wcwidth

from catalog.text import humanize


def echo(lines: str) -> None:
    """Print lines; without colours if stdout is no terminal or NO_COLOR is set.

    Characters that the encoding of stdout lacks are printed as escapes.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    printable = lines.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(printable, color=False if os.environ.get("NO_COLOR") else None)


def counted(number: int, word: str) -> str:
    """Return a number with its noun: 1 step, 2 steps, 2 info."""
    return humanize.count(number, word, "info" if word == "info" else "")


class Progress:
    """Running count on a terminal, shown once the work has taken a second."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._began = self._shown = time.monotonic()
        self._visible = False

    def __call__(self, count: int) -> None:
        """Show the count, at most ten times per second."""
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._began > 1 and now - self._shown > 0.1:
            self._shown, self._visible = now, True
            click.echo(f"\r{count:,} {self._noun} …", err=True, nl=False)

    def clear(self) -> None:
        """Erase the count, so that a line can be printed."""
        if self._visible:
            self._visible = False
            click.echo("\r\033[K", err=True, nl=False)


@contextmanager
def progress(noun: str) -> Iterator[Progress]:
    """Yield a running count, and erase it at the end."""
    count = Progress(noun)
    try:
        yield count
    finally:
        count.clear()


def width(text: str) -> int:
    """Return the columns of a text: Chinese characters take two, combining marks none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return wcwidth.width(text, control_codes="ignore")


def cut(text: str, columns: int) -> str:
    """Return the text, shortened to its beginning and `…` if it is wider than `columns`."""
    if width(text) <= columns:
        return text
    return wcwidth.clip(text, 0, max(columns - 1, 0), fillchar="") + "…"


def cut_before(text: str, columns: int) -> str:
    """Return the text, shortened to `…` and its end if it is wider than `columns`."""
    if (whole := width(text)) <= columns:
        return text
    return "…" + wcwidth.clip(text, whole - columns + 1, whole, fillchar="")


def table(rows: Sequence[Sequence[str]], columns: int | None = None) -> Iterator[str]:
    """Yield a line for each row, with aligned cells; `columns` is the width of the terminal.

    The cells before the last are padded to the longest one, and to at most a third of the width.
    """
    most = columns // 3 if columns else sys.maxsize
    cells = zip(*(row[:-1] for row in rows), strict=True)
    widths = [min(max(map(width, column)), most) for column in cells]
    for *first, last in rows:
        padded = [wcwidth.ljust(cell, size) for cell, size in zip(first, widths, strict=True)]
        line = "  ".join([*padded, last]).rstrip()
        yield cut(line, columns) if columns else line

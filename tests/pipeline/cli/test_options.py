"""Question before most of a directory is removed, on a real terminal."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
import pytest

from pipeline.cli.options import confirm


@contextmanager
def terminal() -> Iterator[int]:
    """Yield the keyboard and screen of the terminal that a command has meanwhile."""
    keyboard, end = pty.openpty()
    with (
        open(end) as stdin,
        open(os.dup(end), "w") as stderr,
        pytest.MonkeyPatch.context() as patch,  # a fixture would be too early for pytest's capture
    ):
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "stderr", stderr)
        yield keyboard
    os.close(keyboard)


def read_until(keyboard: int, text: bytes) -> None:
    """Read from the screen until it shows a text; one read may return only the echo."""
    shown = b""
    while text not in shown:
        shown += os.read(keyboard, 4096)


def test_a_person_is_asked() -> None:
    """The question has the numbers; any answer but yes leaves all as it is."""
    with terminal() as keyboard:
        os.write(keyboard, b"y\n")
        confirm(2, 3, "links in here", yes=False)
        read_until(keyboard, b"This removes 2 of 3 links in here. Go on?")
        os.write(keyboard, b"\n")
        with pytest.raises(click.ClickException, match="Nothing was changed"):
            confirm(2, 3, "links in here", yes=False)


@pytest.mark.parametrize(("removed", "total", "yes"), [(0, 0, False), (1, 2, False), (3, 3, True)])
def test_half_of_a_directory_needs_no_question(removed: int, total: int, yes: bool) -> None:
    """Neither does what `--yes` has answered; without a terminal, others would raise."""
    confirm(removed, total, "links in here", yes=yes)
    with pytest.raises(click.ClickException, match="--yes"):
        confirm(total + 1, total, "links in here", yes=False)

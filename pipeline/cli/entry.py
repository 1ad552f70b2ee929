"""Entry point of `skilldrop`: starts the command line; an early signal ends it quietly."""

import os
import signal
import sys
from collections.abc import Callable


def main() -> None:
    """Run the command line and exit."""
    # Without this, child processes would import modules of the working directory before the
    # installed ones: a skill's yaml.py, for example.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        if _command(sys.argv[1:]) == "up":  # signals stop it like a service from the start
            stop_by(_stop)
        from pipeline.cli import app  # Ctrl-C may arrive during this import
    except KeyboardInterrupt:
        sys.exit(130)
    app.main()


def stop_by(stop: Callable[[int, object], None]) -> None:
    """Install a handler for the signals that stop a service; those ignored under nohup stay so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def last_message(number: int) -> str:
    """Return the last message of a service that a signal has stopped."""
    return f"Stopped by {signal.Signals(number).name}."


def _command(words: list[str]) -> str:
    """Return the first word that is neither a global option nor the value of one."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 1 if "=" in words[position] else 2
    return words[position] if position < len(words) else ""


def _stop(number: int, _: object) -> None:
    """Report the signal and end, even in the middle of an import: nothing needs cleaning up yet."""
    try:
        os.write(2, f"{last_message(number)}\n".encode())
    finally:
        os._exit(0)

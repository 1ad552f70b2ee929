"""Signals that stop the service, and the message about each."""

import signal
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_by(stop: Callable[[int, object], None]) -> None:
    """Install a handler for the signals, except those that are ignored, as under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def sentence(number: int) -> str:
    """Return the last message of a service that a signal has stopped."""
    return f"Stopped by {signal.Signals(number).name}."

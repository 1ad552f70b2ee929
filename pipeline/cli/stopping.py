"""Signals that stop the service, and the message about each."""

import signal
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_by(stop: Callable[[int, object], None]) -> None:
    """Let signals call a function from now on, but for those that are ignored, as by nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def sentence(number: int) -> str:
    """Return what a service says last that a signal has stopped."""
    return f"Stopped by {signal.Signals(number).name}."

"""End of a benchmark by a signal."""

import signal


def end_by_signals() -> None:
    """Let SIGINT and SIGTERM raise SystemExit, so that everything is cleaned up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # a second one would interrupt the cleaning up
    raise SystemExit(128 + number)

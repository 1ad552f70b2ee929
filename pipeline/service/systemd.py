"""Notifications to systemd (`Type=notify`, `WatchdogSec`)."""

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a state such as READY=1 to the socket in NOTIFY_SOCKET; do nothing if it is not set.

    Source of the protocol: sd_notify(3).
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(f"\0{address[1:]}" if address[0] == "@" else address)
        sender.send(state.encode())

"""Ports for servers of tests."""

import secrets
import socket
from contextlib import suppress
from pathlib import Path


def free_port() -> int:
    """Return a port on which nothing listens.

    The system does not use these ports for outgoing connections, so it stays free for a moment.
    """
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = secrets.choice(range(first_given // 2, first_given))
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port

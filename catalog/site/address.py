"""Address of a server: a check that it is free, its URL, and a warning if anybody may read it."""

import errno
import ipaddress
import os
import socket
from pathlib import Path

from catalog.filesystem import token_file
from catalog.model.errors import NotPossible


def check(host: str, port: int, server: str = "The site", option: str = "--port") -> None:
    """Raise NotPossible with the reason if `server` cannot listen at an address of its option."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise NotPossible(
            f"{server} cannot listen on {host}: the host is unknown. "
            "Use an address of this machine, such as 127.0.0.1."
        ) from error
    for family, kind, protocol, _, socket_address in addresses:
        with socket.socket(family, kind, protocol) as listener:
            # The server sets both options; without them this check would fail where it succeeds.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listener.bind(socket_address)
            except OSError as error:
                reason = _reason(error, host, port, option)
                raise NotPossible(f"{server} cannot listen on {reason}") from error


def url(host: str, port: int) -> str:
    """Return the URL of the site for a browser on this machine."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}/" if ":" in reachable else f"http://{reachable}:{port}/"


def _reason(error: OSError, host: str, port: int, option: str) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"{host}:{port}: another program uses it; `ss -ltnp` shows which. "
                f"Stop it, or give another {option}."
            )
        case errno.EADDRNOTAVAIL:
            return (
                f"{host}: this machine does not have that address. "
                "Use one of its addresses, such as 127.0.0.1."
            )
        case errno.EACCES:
            return f"port {port}: it needs special permission. Choose a port of 1024 or above."
    return f"{host}:{port}: {error.strerror or error}."


def warning(catalog: Path, host: str, *, behind_proxy: bool) -> str | None:
    """Return a warning if a server without protection listens beyond this machine.

    A token protects it, or a proxy that is stated to stand before it.
    """
    if behind_proxy or is_loopback(host) or os.path.lexists(catalog.with_name(token_file.NAME)):
        return None
    return (
        f"The server listens on {host}, where everybody who reaches it can read every skill. "
        "Make a token with `skilldrop token new NAME`, or set `behind_proxy = true` in [site] "
        "if a proxy asks for passwords."
    )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that listens on a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

"""Address of the site: a check that it is free, and its URL."""

import errno
import socket

from catalog.model.errors import SiteUnavailable


def check(host: str, port: int, server: str = "The site") -> None:
    """Raise SiteUnavailable with the reason if `server` cannot listen at an address."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise SiteUnavailable(
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
                reason = _reason(error, host, port)
                raise SiteUnavailable(f"{server} cannot listen on {reason}") from error


def url(host: str, port: int) -> str:
    """Return the URL of the site for a browser on this machine."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}/" if ":" in reachable else f"http://{reachable}:{port}/"


def _reason(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"{host}:{port}: another program uses it. Stop it, or choose another port."
        case errno.EADDRNOTAVAIL:
            return (
                f"{host}: this machine does not have that address. "
                "Use one of its addresses, such as 127.0.0.1."
            )
        case errno.EACCES:
            return f"port {port}: it needs special permission. Choose a port of 1024 or above."
    return f"{host}:{port}: {error.strerror or error}."

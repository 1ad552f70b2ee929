"""Address of the site: a check that it is free, and its URL."""

import errno
import socket

from catalog.model.errors import SiteUnavailable


def check(host: str, port: int, who: str = "The site") -> None:
    """Raise SiteUnavailable, saying why `who` cannot listen there at present."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise SiteUnavailable(
            f"{who} cannot listen on {host}: no such host is known. "
            "Use an address of this machine, such as 127.0.0.1."
        ) from error
    for family, kind, protocol, _, place in found:
        with socket.socket(family, kind, protocol) as listener:
            # The server sets both, too: without them we would see hindrances that it does not.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listener.bind(place)
            except OSError as error:
                why = _why(error, host, port)
                raise SiteUnavailable(f"{who} cannot listen on {why}") from error


def url(host: str, port: int) -> str:
    """Return where a browser on this machine finds the site."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}/" if ":" in reachable else f"http://{reachable}:{port}/"


def _why(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"{host}:{port}: another program does. Stop it, or choose another port."
        case errno.EADDRNOTAVAIL:
            return (
                f"{host}: this machine does not have that address. "
                "Use one that it has, such as 127.0.0.1."
            )
        case errno.EACCES:
            return f"port {port}: it takes special rights. Choose a port of 1024 or above."
    return f"{host}:{port}: {error.strerror or error}."

"""Check of the Host header: the site answers only to its own names.

Without it, a web page whose name resolves to a private address (DNS rebinding) could read the
catalog, and absolute URLs in responses would repeat any name that a client sends.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Any

from catalog.site.http.checks import Check, Refusal

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d*)?\Z", re.IGNORECASE)
_REFUSED = Refusal(
    421,
    "This site does not answer to that host name. "
    "If the name belongs to the site, add it to `names` in the [site] settings.",
)


def check(names: Sequence[str]) -> Check:
    """Return the check that accepts loopback names, names of this machine and the given names.

    The names of this machine are the address at which the connection arrived and, unless that is
    loopback, the host name. Ports are not compared.
    """
    own = LOOPBACK | {_normal(name) for name in names}
    machine = {_normal(name) for name in (socket.gethostname(), socket.getfqdn())}

    def checked(scope: Any) -> Refusal | None:
        host = _host(scope)
        address = _normal(str((scope.get("server") or ("",))[0]))
        is_own = host in own or host == address or (host in machine and not is_loopback(address))
        return None if host and is_own else _REFUSED

    return checked


def _host(scope: Any) -> str:
    values = [value for name, value in scope["headers"] if name == b"host"]
    match = _HOST.match(values[0].decode("latin-1")) if len(values) == 1 else None
    return _normal(match[1]) if match else ""


def _normal(name: str) -> str:
    return name.lower().removesuffix(".").removeprefix("[").removesuffix("]")


def is_loopback(name: str) -> bool:
    """Return whether a name or an address without port is that of loopback."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False

"""Check of the Host header: the site answers to its own names, whatever leads to its address.

A web page whose name was made to lead to a private address (DNS rebinding) could read the catalog
otherwise, and absolute URLs in answers would repeat whatever name was sent.
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
    "This site does not answer to that host name; "
    "add it to `names` in the [site] settings if it is one of its own.",
)


def check(names: Sequence[str]) -> Check:
    """Return the check that lets in who asks for loopback, this machine or one of the names.

    This machine is the address at which a connection arrived, and its host name where that is not
    loopback. A port is not compared.
    """
    own = LOOPBACK | {_normal(name) for name in names}
    machine = {_normal(name) for name in (socket.gethostname(), socket.getfqdn())}

    def checked(scope: Any) -> Refusal | None:
        asked = _asked(scope)
        address = _normal(str((scope.get("server") or ("",))[0]))
        is_own = (
            asked in own or asked == address or (asked in machine and not _is_loopback(address))
        )
        return None if asked and is_own else _REFUSED

    return checked


def _asked(scope: Any) -> str:
    given = [value for name, value in scope["headers"] if name == b"host"]
    match = _HOST.match(given[0].decode("latin-1")) if len(given) == 1 else None
    return _normal(match[1]) if match else ""


def _normal(name: str) -> str:
    return name.lower().removesuffix(".").removeprefix("[").removesuffix("]")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

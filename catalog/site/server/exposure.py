"""Warning about a server that anybody in the network may read."""

import ipaddress
from pathlib import Path

from catalog.filesystem import token_file
from catalog.model.errors import TokensInvalid


def warning(catalog: Path, host: str, *, behind_proxy: bool) -> str | None:
    """Return one sentence if a server listens beyond this machine with nothing to protect it.

    A token protects it, or a proxy that is stated to stand before it.
    """
    if behind_proxy or is_loopback(host) or _has_tokens(catalog):
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


def _has_tokens(catalog: Path) -> bool:
    try:
        return bool(token_file.load(catalog.with_name(token_file.NAME)))
    except TokensInvalid:
        return True  # the site refuses everybody until the file is repaired

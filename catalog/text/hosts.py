"""Hosts of the URLs in a text."""

import re

_SCHEMES = frozenset({"http", "https", "ws", "wss", "ftp", "git", "ssh"})
_BEFORE = re.compile(r"[A-Za-z]+$")
_HOST = re.compile(r"(?:[^\s/@]*@)?([\w.-]*\w)")
_LONGEST_SCHEME = 6


def of_text(text: str) -> set[str]:
    """Return the hosts of the URLs in a text, in lower case."""
    hosts = set()
    place = text.find("://")
    while place >= 0:
        scheme = _BEFORE.search(text[max(place - _LONGEST_SCHEME, 0) : place])
        host = _HOST.match(text, place + 3)
        if scheme and host and scheme[0].lower() in _SCHEMES:
            hosts.add(host[1].lower())
        place = text.find("://", place + 3)
    return hosts

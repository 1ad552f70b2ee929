"""Hosts and tools in the texts of a skill."""

import re
from collections.abc import Iterable

MOST, MOST_TEXT = 200, 2_000_000
"""Hosts that are named, and characters of the texts that are searched for them."""

_SCHEMES = frozenset({"http", "https", "ws", "wss", "ftp", "git", "ssh"})
_BEFORE = re.compile(r"[A-Za-z]+$")
_HOST = re.compile(r"(?:[^\s/@]*@)?([\w.-]*\w)")
_LONGEST_SCHEME = 6
_NOWHERE = re.compile(r"^[^.]*$|^127\.|(?:^|\.)example(?:\.(?:com|net|org))?$")


def of_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of the URLs in texts, sorted, without local ones and those of examples."""
    found: set[str] = set()
    room = MOST_TEXT
    for text in texts:
        found |= _of_text(text[:room])
        room = max(room - len(text), 0)
    return tuple(sorted(host for host in found if not _NOWHERE.search(host))[:MOST])


def _of_text(text: str) -> set[str]:
    hosts = set()
    place = text.find("://")
    while place >= 0:
        scheme = _BEFORE.search(text[max(place - _LONGEST_SCHEME, 0) : place])
        host = _HOST.match(text, place + 3)
        if scheme and host and scheme[0].lower() in _SCHEMES:
            hosts.add(host[1].lower())
        place = text.find("://", place + 3)
    return hosts


MOST_TOOLS = 200
"""Names that are returned."""
_BRACKETS = re.compile(r"\([^)]*\)?")
_NAME = re.compile(r"[^\s,]+")


def tools_of(allowed_tools: str | None) -> tuple[str, ...]:
    """Return the distinct names of tools, without their arguments: "Bash" for "Bash(git:*)"."""
    names = _NAME.findall(_BRACKETS.sub(" ", allowed_tools or ""))
    return tuple({name.lower(): name for name in reversed(names)}.values())[::-1][:MOST_TOOLS]

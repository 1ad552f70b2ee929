"""Hosts and tools in the texts of a skill."""

import re
from collections.abc import Iterable
from itertools import islice

MOST, MOST_TEXT = 200, 2_000_000
"""Hosts that are named, and characters of the texts that are searched for them."""

_SCHEMES = ("http", "https", "ws", "wss", "ftp", "git", "ssh")
_BEFORE = "|".join(rf"(?<=(?<![A-Za-z])(?i:{scheme})://)" for scheme in _SCHEMES)
_URL = re.compile(rf"://(?<=[A-Za-z]://)(?:{_BEFORE})(?:[^\s/@]*@)?([\w.-]*\w)")
_NOWHERE = re.compile(r"^[^.]*$|^127\.|(?:^|\.)example(?:\.(?:com|net|org))?$")


def of_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of the URLs in texts, sorted, without local ones and those of examples."""
    found: set[str] = set()
    room = MOST_TEXT
    for text in texts:
        found.update(map(str.lower, _URL.findall(text[:room])))
        room = max(room - len(text), 0)
    return tuple(islice((host for host in sorted(found) if not _NOWHERE.search(host)), MOST))


MOST_TOOLS = 200
"""Names that are returned."""
_BRACKETS = re.compile(r"\([^)]*\)?")
_NAME = re.compile(r"[^\s,]+")


def tools_of(allowed_tools: str | None) -> tuple[str, ...]:
    """Return the distinct names of tools, without their arguments: "Bash" for "Bash(git:*)"."""
    names = _NAME.findall(_BRACKETS.sub(" ", allowed_tools or ""))
    return tuple({name.lower(): name for name in reversed(names)}.values())[::-1][:MOST_TOOLS]

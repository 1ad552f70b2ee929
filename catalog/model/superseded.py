"""Names of the skill files in superseded packages, which no search for SKILL.md finds."""

import re

PATIENCE = 2.0
"""Seconds for which a service leaves SKILL.md to readers that have just resolved `current`."""
SURELY = 10.0
"""Seconds after which a running service has hidden it."""
_START, _END = ".skilldrop-", ".superseded"
"""No file of a skill has such a name: it counts as one of skilldrop's own and is ignored."""
_SKILL_FILE = re.compile(r"skill\.md", re.IGNORECASE | re.ASCII)
_HIDDEN = re.compile(rf"{re.escape(_START)}(skill\.md){re.escape(_END)}", re.IGNORECASE | re.ASCII)


def is_skill_file(path: str) -> bool:
    """Return whether agents take a file for a skill, by its name in upper or lower case."""
    return _SKILL_FILE.fullmatch(path.rpartition("/")[2]) is not None


def stored_path(path: str, *, is_current: bool) -> str:
    """Return the path at which a current or superseded package keeps a file of a skill."""
    above, slash, name = path.rpartition("/")
    if is_current or not is_skill_file(name):
        return path
    return f"{above}{slash}{_START}{name}{_END}"


def path_of(stored: str) -> str:
    """Return the path in the skill of a file that is stored in a package."""
    above, slash, name = stored.rpartition("/")
    match = _HIDDEN.fullmatch(name)
    return f"{above}{slash}{match[1]}" if match else stored


def possible_paths(path: str) -> tuple[str, ...]:
    """Return the paths to try for a file of a package, in order.

    The first is tried again at the end: the file may be renamed between two attempts.
    """
    hidden = stored_path(path, is_current=False)
    return (path,) if hidden == path else (path, hidden, path)

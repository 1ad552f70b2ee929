"""Names of the tools in a value of `allowed-tools`."""

import re

MOST = 200
"""Names that are returned."""
_BRACKETS = re.compile(r"\([^)]*\)?")
_NAME = re.compile(r"[^\s,]+")


def of(allowed_tools: str | None) -> tuple[str, ...]:
    """Return the distinct names without what is allowed of each: "Bash" for "Bash(git:*)"."""
    names = _NAME.findall(_BRACKETS.sub(" ", allowed_tools or ""))
    return tuple({name.lower(): name for name in reversed(names)}.values())[::-1][:MOST]

"""Published prompt indexes, read as an agent reads them."""

import re

_PATTERN = re.compile(r"The files of the skill NAME are in (.*)NAME(.*)$", re.MULTILINE)


def location_of(text: str, name: str) -> str | None:
    """Return the SKILL.md of a skill in an index of lines; None if it is not listed."""
    line = re.search(rf"^{re.escape(name)}(?: \((.*?)\))?(?:: |$)", text, re.MULTILINE)
    if not line or line[1]:
        return line and line[1]
    pattern = _PATTERN.search(text)
    assert pattern, text
    return f"{pattern[1]}{name}{pattern[2]}SKILL.md"

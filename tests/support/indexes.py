"""Published prompt indexes, read as an agent reads them."""

import re

_PATTERN = re.compile(r"The files of the skill NAME are in (.*)NAME(.*)$", re.MULTILINE)


def locations(text: str) -> list[str]:
    """Return the SKILL.md of each skill in an index of lines that has one pattern for all."""
    pattern = _PATTERN.search(text)
    if not pattern:
        return []
    lines = text[pattern.end() :].splitlines()[1:-1]
    return [f"{pattern[1]}{re.split(': | ', line)[0]}{pattern[2]}SKILL.md" for line in lines]


def location_of(text: str, name: str) -> str | None:
    """Return the SKILL.md of a skill in an index of lines; None if it is not listed."""
    line = re.search(rf"^{re.escape(name)}(?: \((.*?)\))?(?:: |$)", text, re.MULTILINE)
    if not line or line[1]:
        return line and line[1]
    pattern = _PATTERN.search(text)
    assert pattern, text
    return f"{pattern[1]}{name}{pattern[2]}SKILL.md"

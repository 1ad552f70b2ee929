"""Fenced code block in the body of an older skill, under a heading such as Code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEADINGS = frozenset(
    {
        "code",
        "source code",
        "implementation",
        "代码",
        "代碼",
        "代码实现",
        "源代码",
    }
)
"""Headings above the code, in lower case and without surrounding numbers and punctuation."""

_ENDINGS = {
    "typescript": "ts",
    "ts": "ts",
    "javascript": "js",
    "js": "js",
    "mjs": "mjs",
    "python": "py",
    "py": "py",
    "python3": "py",
    "bash": "sh",
    "sh": "sh",
    "shell": "sh",
    "ruby": "rb",
    "rb": "rb",
    "go": "go",
    "php": "php",
    "perl": "pl",
    "lua": "lua",
    "powershell": "ps1",
}
DEFAULT_ENDING = "ts"
"""File ending for a block without a known language: ApexBridge's own scripts are TypeScript."""

_FENCE = re.compile(r" {0,3}(?:(`{3,})[ \t]*([^`\s]*)[^`]*|(~{3,})[ \t]*(\S*).*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_AROUND = re.compile(r"^[\W\d_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code block of a text; lines count from 0."""

    first: int  # the line of the opening fence …
    last: int  # … and of the closing one
    ending: str  # of a file with this code
    names_language: bool
    code: str
    is_chinese: bool  # of the heading above it


def code_block(text: str) -> CodeBlock | None:
    """Return the first closed code block under a code heading, if there is one.

    The text's lines end in LF. A section ends at the next heading of its level or above.
    """
    lines = text.split("\n")
    heading, level = "", 0
    for number, kind, rest in _outline(lines):
        if kind == "heading":
            depth, title = len(rest[0]), _AROUND.sub("", rest[1]).lower()
            if title in HEADINGS:
                heading, level = title, depth
            elif depth <= level:
                heading, level = "", 0
        elif heading:
            last, language = int(rest[0]), rest[1].lower()
            return CodeBlock(
                number,
                last,
                _ENDINGS.get(language, DEFAULT_ENDING),
                language in _ENDINGS,
                "\n".join([*lines[number + 1 : last], ""]),
                not heading.isascii(),
            )
    return None


def _outline(lines: list[str]) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """Yield headings (with # signs and title) and code blocks (with last line and language)."""
    number = 0
    while number < len(lines):
        if fence := _FENCE.match(lines[number]):
            opening = fence[1] or fence[3]
            last = _closing_line(lines, number + 1, opening)
            if last is None:
                return
            yield number, "block", (str(last), fence[2] or fence[4] or "")
            number = last
        elif heading := _HEADING.match(lines[number]):
            yield number, "heading", (heading[1], heading[2])
        number += 1


def _closing_line(lines: list[str], start: int, opening: str) -> int | None:
    closing = re.compile(rf" {{0,3}}{re.escape(opening[0])}{{{len(opening)},}}[ \t]*$")
    return next((n for n in range(start, len(lines)) if closing.match(lines[n])), None)

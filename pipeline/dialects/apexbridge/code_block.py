"""The fenced code block that older skills keep in their body, under a heading such as Code."""

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
"""What the heading above the code says, in lower case and without numbers and signs around it."""

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
USUAL_ENDING = "ts"
"""Of a block that does not say its language: ApexBridge's own scripts are TypeScript."""

_FENCE = re.compile(r" {0,3}(?:(`{3,})[ \t]*([^`\s]*)[^`]*|(~{3,})[ \t]*(\S*).*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_AROUND = re.compile(r"^[\W\d_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block of a text, in lines from 0."""

    first: int  # its opening fence …
    last: int  # … and its closing one
    ending: str  # of a file with this code
    says_language: bool
    code: str
    is_chinese: bool  # the heading above it


def code_block(text: str) -> CodeBlock | None:
    """Return the first closed code block below a heading that announces code, if there is one.

    The text's lines end in LF. The part under a heading ends at the next of its level or above.
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
                _ENDINGS.get(language, USUAL_ENDING),
                language in _ENDINGS,
                "\n".join([*lines[number + 1 : last], ""]),
                not heading.isascii(),
            )
    return None


def _outline(lines: list[str]) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """Yield headings (their signs and title) and code blocks (their last line and language)."""
    number = 0
    while number < len(lines):
        if fence := _FENCE.match(lines[number]):
            sign = fence[1] or fence[3]
            last = _closing(lines, number + 1, sign)
            if last is None:
                return
            yield number, "block", (str(last), fence[2] or fence[4] or "")
            number = last
        elif heading := _HEADING.match(lines[number]):
            yield number, "heading", (heading[1], heading[2])
        number += 1


def _closing(lines: list[str], start: int, sign: str) -> int | None:
    closing = re.compile(rf" {{0,3}}{re.escape(sign[0])}{{{len(sign)},}}[ \t]*$")
    return next((at for at in range(start, len(lines)) if closing.match(lines[at])), None)

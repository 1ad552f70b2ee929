"""Fenced code block in the body of an older skill, under a heading such as Code."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

HEADINGS = ("code", "source code", "implementation", "代码", "代碼", "代码实现", "源代码")
"""Headings above the code, in lower case and without surrounding numbers and punctuation."""

_ENDINGS = {
    **{ending: ending for ending in ("ts", "js", "mjs", "py", "sh", "rb", "go", "php", "lua")},
    "typescript": "ts",
    "javascript": "js",
    "python": "py",
    "python3": "py",
    "bash": "sh",
    "shell": "sh",
    "ruby": "rb",
    "perl": "pl",
    "powershell": "ps1",
}
DEFAULT_ENDING = "ts"
"""File ending for a block without a known language: ApexBridge's own scripts are TypeScript."""

_AROUND = re.compile(r"^[\W\d_]+|[\W_]+$")
_MARKDOWN = MarkdownIt("commonmark")


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
    heading, level, depth = "", 0, 0
    for token in _MARKDOWN.parse(text):
        if token.type == "heading_open":
            depth = int(token.tag[1:])
        elif token.type == "inline" and depth:
            title = _AROUND.sub("", token.content).lower()
            if title in HEADINGS:
                heading, level = title, depth
            elif depth <= level:
                heading, level = "", 0
            depth = 0
        elif token.type == "fence" and not token.level and heading and _is_closed(token, lines):
            first, end = token.map or (0, 0)
            language = token.info.partition(" ")[0].lower()
            return CodeBlock(
                first,
                end - 1,
                _ENDINGS.get(language, DEFAULT_ENDING),
                language in _ENDINGS,
                token.content,
                not heading.isascii(),
            )
    return None


def _is_closed(block: Token, lines: list[str]) -> bool:
    """Return whether a fence closes a block, rather than the end of the text."""
    first, end = block.map or (0, 0)
    last = lines[end - 1].strip()
    return end - 1 > first and last.startswith(block.markup) and not last.strip(block.markup[0])

"""References of a body to files: targets of its links and paths in its code spans."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from posixpath import normpath
from urllib.parse import unquote

MOST_REFERENCES = 1_000
"""Further references are ignored; an ordinary body has a dozen."""

# Patterns start with a literal if possible, because the regex engine then skips to it. `in` finds
# ten times faster that a text lacks a character.
_LINK = re.compile(r"\]\([ \t]{0,9}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}))")
_DEFINITION = re.compile(r"\]:[ \t]{0,9}<?([^\s<>]{1,1000})")
_CODE = re.compile("`([^`\n]{1,300})`")
_PATH_IN_CODE = re.compile(
    r"(?<![\w./~$}-])(?:\./)?((?:\.\./)*(?:scripts|references?|assets|templates)/"
    r"[\w./@+-]{1,200}\.\w{1,8})(?![\w*/<{\[-])"
)
_BLOCK = re.compile(r"\n {0,3}(?:(`{3,})(?![^\n]*`)|(~{3,})|<!--)")
_CLOSING = {
    "`": re.compile(r"\n {0,3}(`{3,})[ \t]*(?=\n|\Z)"),
    "~": re.compile(r"\n {0,3}(~{3,})[ \t]*(?=\n|\Z)"),
}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#")
_PLACEHOLDER = re.compile(r"[{}<>$*|]|\.\.\.|…")
_OWN_FOLDER = "${CLAUDE_SKILL_DIR}/"  # Claude Code replaces it with the skill's folder
_MACHINE = (
    r"(?:file:|~|[A-Za-z]:[\\/]|\\\\"
    r"|/(?:etc|home|root|proc|sys|dev|var|tmp|usr|opt|mnt|private|Users|Volumes)(?:/|$)"
    r"|(?:\.\./)+(?:etc|home|root|proc|Users)/|(?:\.\./)+\.[a-z])"
)
_ON_THIS_MACHINE = re.compile(_MACHINE, re.IGNORECASE)
TO_MACHINE = re.compile(rf"\][(:][ \t]{{0,9}}<?{_MACHINE}", re.IGNORECASE)
"""Start of a link for which `leads_to_machine` is true."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference of a body to a file."""

    target: str  # without #fragment and ?query; relative ones normalised: "references/a.md"
    offset: int  # in characters from the start of the body

    @property
    def leads_to_machine(self) -> bool:
        """Whether it points to the reader's machine: a system folder, a home folder or a drive."""
        return bool(_ON_THIS_MACHINE.match(self.target))

    @property
    def leads_outside(self) -> bool:
        """Whether it points outside the skill folder."""
        return self.target.startswith(("/", "../")) or self.target == ".."


def references(body: str) -> list[Reference]:
    """Return the references outside code fences and comments, each target once, in order.

    A path in a code span counts only below scripts/, references/, assets/ or templates/; any
    other path in code is taken for one in the reader's project. URLs and placeholders are
    ignored.
    """
    if not ("]" in body or "`" in body):
        return []
    candidates = sorted(islice(_candidates(body), MOST_REFERENCES), key=attrgetter("offset"))
    if not candidates:
        return []
    blocks = _blocks(body)
    by_target: dict[str, Reference] = {}
    for reference in candidates:
        if not _lies_in(blocks, reference.offset):
            by_target.setdefault(reference.target, reference)
    return list(by_target.values())


def _candidates(body: str) -> Iterator[Reference]:
    for link in _LINK.finditer(body):
        if target := _target(link[1] or link[2]):
            yield Reference(target, link.start())
    for definition in _DEFINITION.finditer(body):
        if _defines(body, definition.start()) and (target := _target(definition[1])):
            yield Reference(target, definition.start())
    for code in _CODE.finditer(body) if "`" in body else ():
        if "/" in code[1]:
            for path in _PATH_IN_CODE.finditer(code[1].replace(_OWN_FOLDER, "")):
                if ".../" not in path[1]:
                    yield Reference(normpath(path[1]), code.start())


def _target(written: str) -> str | None:
    """Return the path of a link's target, or None if it is not a file."""
    path = written.removeprefix(_OWN_FOLDER)
    if _ON_THIS_MACHINE.match(path):
        return path
    if _URL.match(path):
        return None
    path = path.partition("#")[0].partition("?")[0]
    if "%" in path:
        path = unquote(path)
    if not ("/" in path or "." in path) or _PLACEHOLDER.search(path):
        return None
    return normpath(path)


def _defines(body: str, bracket: int) -> bool:
    """Return whether the line up to this closing bracket is `[label`, as in `[label]: target`."""
    line = body[max(body.rfind("\n", bracket - 300, bracket) + 1, bracket - 300) : bracket]
    return line.lstrip(" ").startswith("[") and "]" not in line


def _blocks(body: str) -> list[tuple[int, int]]:
    """Return the start and end offsets of code fences and comments.

    Source: CommonMark, sections "Fenced code blocks" and "HTML blocks".
    """
    if not ("`" in body or "~" in body or "<" in body):
        return []
    text = f"\n{body}"  # so that a line end precedes every line
    blocks: list[tuple[int, int]] = []
    end = 0
    while opening := _BLOCK.search(text, end):
        end = _end(text, opening)
        blocks.append((opening.start(), end - 1))
    return blocks


def _end(text: str, opening: re.Match[str]) -> int:
    """Return the end offset of the block that starts here."""
    fence = opening[1] or opening[2]
    if not fence:
        end = text.find("-->", opening.end())
        return len(text) if end < 0 else end
    for closing in _CLOSING[fence[0]].finditer(text, opening.end()):
        if len(closing[1]) >= len(fence):
            return closing.end()
    return len(text)


def _lies_in(blocks: list[tuple[int, int]], offset: int) -> bool:
    index = bisect_right(blocks, offset, key=itemgetter(0)) - 1
    return index >= 0 and offset < blocks[index][1]

"""Frontmatter delimiters: the start and the end of the frontmatter of a SKILL.md."""

import re
from dataclasses import dataclass

from catalog.model.finding import Finding
from pipeline.parsing.codes import FENCE_NOT_ALONE, OPENING_FENCE_TOO_LONG

_KEY = re.compile(r"""(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)""")
# After an empty line only a lower-case key is believed: `Note: …` is how a body may start.
_KEY_AFTER_GAP = re.compile(r"[a-z][a-z0-9_-]*:(?:[ \t]|$)")
_HEADING = re.compile(r"#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Fences:
    """A file cut at the two lines of dashes that enclose its frontmatter."""

    frontmatter: str
    line: int  # of the file, on which the frontmatter starts
    column: int  # 1, unless text is glued to the opening fence, whose `after` is as written
    closing_line: int  # of the file
    body: str
    body_line: int  # of the file, on which `body` starts
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Closed:
    """A text in which the missing closing fence has been put in."""

    text: str
    line: int  # of the text, from 0: here …
    before: str  # … stood this …
    after: str  # … in place of which it now says this
    is_end: bool  # whether that is the last line of both text and frontmatter, with the fence below


def opens(text: str) -> bool:
    """Return whether the text starts as frontmatter does."""
    return text.startswith("---")


def cut(text: str, first_line: int = 1) -> Fences | None:
    """Cut a text that opens with a fence; None where no line closes it.

    Lines end in LF. A fence is a line that starts with `---` in column 0, where YAML allows no
    text either; `---` anywhere else is text. Anything after the dashes is accepted and found:
    after the opening ones it belongs to the frontmatter, after the closing ones to the body.
    """
    opening, start, found = _opening(text, first_line)
    end = text.find("\n---", max(start - 1, 2))
    if end < 0:
        return None
    line = first_line + opening
    fence_line = line + text.count("\n", start, end + 1)
    after = text.find("\n", end + 1)
    after = len(text) if after < 0 else after + 1
    rest = text[end + 4 : after].strip()
    body, body_line = after, fence_line + 1
    if rest.strip("-"):
        body, body_line = end + 4, fence_line
        found.append(
            _glued(
                fence_line,
                f"---{text[end + 4 : after].rstrip()}",
                f"---\n{text[end + 4 : after].strip()}",
                "closes",
            )
        )
    elif rest:
        found.append(_glued(fence_line, text[end + 1 : after].rstrip(), "---", "closes"))
    return Fences(
        text[start : end + 1],
        line,
        1 if opening else start + 1,
        fence_line,
        text[body:],
        body_line,
        tuple(found),
    )


def close(text: str, limit: int) -> Closed | None:
    """Put a closing fence where the fields end; None where that is not clear.

    They end before a heading with an empty line below it, at an empty line that no field
    follows, at `...` or an indented `---`, or at the end of the file; within `limit`
    characters. Text that follows them without a gap leaves it unclear. Whether they are valid
    YAML is for the caller to see.
    """
    lines = text[:limit].split("\n")
    following = _next_filled(lines)
    is_part = len(text) > limit
    if is_part:
        lines.pop()  # it may go on behind the limit
    for number, line in enumerate(lines[1:], 1):
        if line.startswith("---"):
            return None
        if line.rstrip() == "..." or line.strip() == "---":
            return _closed(text, lines, number, "---")
        if number > 1 and _HEADING.match(line) and not "".join(lines[number + 1 : number + 2]):
            return _closed(text, lines, number, f"---\n{line}")
        if not line.strip():
            if is_part and not following[number]:
                return None
            if not _goes_on(following[number]):
                return _closed(text, lines, number, "---\n")
        elif not (line[0] in " \t#-" or _KEY.match(line)):
            return None
    if is_part:
        return None
    return _closed(text, lines, len(lines) - 1, f"{lines[-1]}\n---", is_end=True)


def _next_filled(lines: list[str]) -> list[str]:
    """Return, for each line, the next one that is not empty; at the end an empty one."""
    filled, following = "", []
    for line in reversed(lines):
        following.append(filled)
        filled = line if line.strip() else filled
    return following[::-1]


def _opening(text: str, line: int) -> tuple[int, int, list[Finding]]:
    """Return how many lines the opening fence takes, where the frontmatter starts, and findings."""
    first, newline, _ = text.partition("\n")
    rest = first[3:].strip()
    if not rest:
        return 1, len(first) + len(newline), []
    if not rest.strip("-"):
        long = OPENING_FENCE_TOO_LONG.at(line=line, before=first.rstrip(), after="---")
        return 1, len(first) + len(newline), [long]
    start = len(first) - len(first.lstrip("-"))
    before, after = first.rstrip(), f"---\n{first[start:].rstrip()}"
    if start == 3:
        return 0, start, [_glued(line, before, after, "opens")]
    return 0, start, [OPENING_FENCE_TOO_LONG.at(line=line, before=before, after=after)]


def _glued(line: int, before: str, after: str, does: str) -> Finding:
    said = f"The line that {does} the frontmatter carries more than its three dashes."
    return FENCE_NOT_ALONE.at(said, line=line, before=before, after=after)


def _goes_on(line: str) -> bool:
    return line.startswith((" ", "\t", "#")) or bool(_KEY_AFTER_GAP.match(line))


def _closed(
    text: str, lines: list[str], number: int, after: str, *, is_end: bool = False
) -> Closed:
    start = sum(map(len, lines[:number])) + number
    before = lines[number]
    return Closed(
        f"{text[:start]}{after}{text[start + len(before) :]}", number, before, after, is_end
    )

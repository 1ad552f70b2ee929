"""Frontmatter delimiters: the start and the end of the frontmatter of a SKILL.md."""

import re
from dataclasses import dataclass

from catalog.model.finding import Finding
from pipeline.parsing.codes import FENCE_NOT_ALONE, OPENING_FENCE_TOO_LONG

_KEY = re.compile(r"""(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)""")
# After an empty line only a lower-case key counts: a body may start with `Note: …`.
_KEY_AFTER_GAP = re.compile(r"[a-z][a-z0-9_-]*:(?:[ \t]|$)")
_CLOSING = re.compile(r"^---(?P<rest>[^\n]*)\n?", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Fences:
    """A file cut at the two lines of dashes that enclose its frontmatter."""

    frontmatter: str
    line: int  # of the file, on which the frontmatter starts
    column: int  # 1, unless text follows the dashes of the opening fence on its line
    closing_line: int  # of the file
    body: str
    body_line: int  # of the file, on which `body` starts
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Closed:
    """A text with its missing closing fence inserted."""

    text: str
    line: int  # of the text, from 0: here …
    before: str  # … this stood …
    after: str  # … and was replaced by this
    is_end: bool  # whether it is the last line of the text, so that the fence follows the text


def opens(text: str) -> bool:
    """Return whether the text starts with a frontmatter fence."""
    return text.startswith("---")


def cut(text: str, first_line: int = 1) -> Fences | None:
    """Split a text that starts with a fence at its fences; None if no line closes it.

    Lines end in LF. A fence is a line that starts with `---` in column 0, where YAML allows no
    text either; `---` anywhere else is text. Anything after the dashes is accepted, with a
    finding: after the opening dashes it belongs to the frontmatter, after the closing ones to
    the body.
    """
    opening, start, findings = _opening(text, first_line)
    closing = _CLOSING.search(text, start)
    if closing is None:
        return None
    line = first_line + opening
    fence_line = line + text.count("\n", start, closing.start())
    rest = closing["rest"].strip()
    has_text = bool(rest.strip("-"))  # of the body
    if rest:
        after = f"---\n{rest}" if has_text else "---"
        findings.append(_not_alone(fence_line, closing[0].rstrip(), after, "closes"))
    return Fences(
        text[start : closing.start()],
        line,
        1 if opening else start + 1,
        fence_line,
        text[closing.start("rest") if has_text else closing.end() :],
        fence_line if has_text else fence_line + 1,
        tuple(findings),
    )


def close(text: str, limit: int) -> Closed | None:
    """Insert a closing fence after the fields; None if their end is unclear.

    The fields end before a heading with an empty line below it, at an empty line that no field
    follows, at `...` or an indented `---`, or at the end of the file; within `limit`
    characters. If text follows them without a gap, their end is unclear. The caller checks
    whether they are valid YAML.
    """
    lines = text[:limit].split("\n")
    following = _next_filled(lines)
    is_cut = len(text) > limit
    if is_cut:
        lines.pop()  # it may continue beyond the limit
    for number, line in enumerate(lines[1:], 1):
        if line.startswith("---"):
            return None
        if line.rstrip() == "..." or line.strip() == "---":
            return _closed(text, lines, number, "---")
        if number > 1 and _HEADING.match(line) and not "".join(lines[number + 1 : number + 2]):
            return _closed(text, lines, number, f"---\n{line}")
        if not line.strip():
            if is_cut and not following[number]:
                return None
            if not _may_continue(following[number]):
                return _closed(text, lines, number, "---\n")
        elif not (line[0] in " \t#-" or _KEY.match(line)):
            return None
    if is_cut:
        return None
    return _closed(text, lines, len(lines) - 1, f"{lines[-1]}\n---", is_end=True)


def _next_filled(lines: list[str]) -> list[str]:
    """Return, for each line, the next one that is not blank, or an empty one at the end."""
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
        too_long = OPENING_FENCE_TOO_LONG.at(line=line, before=first.rstrip(), after="---")
        return 1, len(first) + len(newline), [too_long]
    start = len(first) - len(first.lstrip("-"))
    before, after = first.rstrip(), f"---\n{first[start:].rstrip()}"
    if start == 3:
        return 0, start, [_not_alone(line, before, after, "opens")]
    return 0, start, [OPENING_FENCE_TOO_LONG.at(line=line, before=before, after=after)]


def _not_alone(line: int, before: str, after: str, verb: str) -> Finding:
    message = f"The line that {verb} the frontmatter does not consist of its three dashes alone."
    return FENCE_NOT_ALONE.at(message, line=line, before=before, after=after)


def _may_continue(line: str) -> bool:
    return line.startswith((" ", "\t", "#")) or bool(_KEY_AFTER_GAP.match(line))


def _closed(
    text: str, lines: list[str], number: int, after: str, *, is_end: bool = False
) -> Closed:
    start = sum(map(len, lines[:number])) + number
    before = lines[number]
    return Closed(
        f"{text[:start]}{after}{text[start + len(before) :]}", number, before, after, is_end
    )

"""Comments in a SKILL.md that leave out findings of the linter."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from catalog.model.finding import Finding
from catalog.text.line_ends import with_plain_line_ends
from pipeline.authoring.selection import codes_of, unknown

MARK = "skilldrop:"
"""Text without which a file has no such comment."""

# `<!-- skilldrop: ignore=CODE, CODE -->`, or `# skilldrop: ignore=CODE` in the frontmatter.
_COMMENT = re.compile(
    r"(?:<!--|(?:^|(?<=\s))#)[ \t]*skilldrop:[ \t]*(?P<verb>[\w-]+)[ \t]*=[ \t]*"
    r"(?P<codes>[\w, \t-]*?)[ \t]*(?:-->|$)"
)


@dataclass(slots=True)
class Ignores:
    """Findings that the comments of one file leave out."""

    everywhere: frozenset[str] = frozenset()
    by_line: dict[int, frozenset[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # "12: names 'nam', which …"

    def applies(self, finding: Finding, document: str | None) -> bool:
        """Return whether a comment leaves out a finding."""
        if finding.code in self.everywhere:
            return True
        in_document = finding.path in (None, document) and finding.line is not None
        return in_document and finding.code in self.by_line.get(finding.line or 0, ())


def read(text: str) -> Ignores:
    """Return the findings that the comments of a SKILL.md leave out.

    A comment after other text is about its own line, a comment alone on a line about the next
    line that is not empty; `ignore-file` is about the whole skill.
    """
    ignores, pending = Ignores(), frozenset[str]()
    for number, line in enumerate(with_plain_line_ends(text).split("\n"), 1):
        comment = _COMMENT.search(line) if MARK in line else None
        codes = _codes(comment, number, ignores) if comment else frozenset()
        if comment and comment["verb"] == "ignore-file":
            ignores.everywhere |= codes
        elif comment and not line.replace(comment[0], "").strip():
            pending |= codes
        elif line.strip():
            if codes or pending:
                ignores.by_line[number] = codes | pending
            pending = frozenset()
    return ignores


def _codes(comment: re.Match[str], number: int, ignores: Ignores) -> frozenset[str]:
    selectors: Iterable[str] = [word for word in re.split(r"[,\s]+", comment["codes"]) if word]
    if comment["verb"] not in ("ignore", "ignore-file"):
        ignores.problems.append(f"{number}: the comment must say ignore=… or ignore-file=….")
        return frozenset()
    if message := unknown(selectors):
        ignores.problems.append(f"{number}: the comment {message}")
    return codes_of(selectors)

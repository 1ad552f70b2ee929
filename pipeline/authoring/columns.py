"""Columns of findings about a field: that of its value if the value is wrong."""

import re
from collections.abc import Iterable

from catalog.model.finding import Finding
from catalog.text.line_ends import with_plain_line_ends
from pipeline.parsing.document import Parsed

_BEFORE_VALUE = re.compile(r"""(?:[^\s"':]+|"[^"]*"|'[^']*')[ \t]*:[ \t]+(?=[^\s#])""")
_ABOUT_KEYS = frozenset(
    {"field-not-in-specification", "fields-of-dialect", "field-ignored", "duplicate-key"}
)


def at_values(
    findings: Iterable[Finding], parsed: Parsed | None, document: str | None
) -> tuple[Finding, ...]:
    """Return the findings; the column of one about a value is where the value starts.

    A value on other lines than its key, and an empty one, keep the column of the key.
    """
    lines: list[str] = []
    moved = []
    for finding in findings:
        if parsed and finding.field and finding.column and finding.path == document:
            lines = lines or with_plain_line_ends(parsed.text).split("\n")
            finding = _at_value(finding, lines)
        moved.append(finding)
    return tuple(moved)


def _at_value(finding: Finding, lines: list[str]) -> Finding:
    if finding.code in _ABOUT_KEYS or not finding.line or not finding.column:
        return finding
    match = _BEFORE_VALUE.match(lines[finding.line - 1], finding.column - 1)
    return finding._replace(column=match.end() + 1) if match else finding

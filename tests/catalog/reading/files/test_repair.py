"""A repaired SKILL.md has the same fields and body, and needs no repair any more."""

import pytest

from catalog.reading.files.repair import repaired
from pipeline.parsing.document import parse

BODY = "\n# A skill\n\nText: with a colon.\n"
BROKEN = {
    "colon": f"---\nname: a\ndescription: Does this: and that.\n---\n{BODY}",
    "two colons": f"---\nname: a\ndescription: x: y\nlicense: MIT: or so\n---\n{BODY}",
    "reserved": f"---\nname: a\ndescription: `x` does it.\n---\n{BODY}",
    "no closing fence": f"---\nname: a\ndescription: Does this.\n{BODY}",
    "glued fence": "---\nname: a\ndescription: Does this.\n--- # A skill\n",
    "glued opening": f"---name: a\ndescription: Does this.\n---\n{BODY}",
    "byte order mark": f"\ufeff---\nname: a\ndescription: Does this.\n---\n{BODY}",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", BROKEN)
def test_the_values_stay(name: str, newline: str) -> None:
    """Only the lines of findings change."""
    data = BROKEN[name].replace("\n", newline).encode()
    before = parse(data)
    assert before.frontmatter
    rows = [each._asdict() for each in before.findings]
    text = repaired(data, rows)
    assert text is not None
    after = parse(text)
    assert (after.frontmatter, after.body) == (before.frontmatter, before.body)
    assert [each for each in after.findings if each.before or "byte-order" in each.code] == []


def test_a_file_with_other_lines_is_not_repaired() -> None:
    """The findings are then of another version."""
    rows = [{"line": 3, "before": "description: x: y", "after": "description: 'x: y'"}]
    assert repaired(b"---\nname: a\ndescription: other\n---\n", rows) is None

"""Examples in the documents with the requirements, which are no part of the repository."""

import re
from collections.abc import Iterator

import pytest

from tests.support.paths import DOCUMENTS


def document(number: str) -> str:
    """Return the text of the document with a number; skip the test without it."""
    for path in DOCUMENTS.glob(f"{number}_*.txt"):
        return path.read_text("utf-8")
    pytest.skip(f"the document {number} is not here")


def skills_in(text: str) -> Iterator[str]:
    """Yield each SKILL.md in fenced code: its frontmatter, and the body in the same fence."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if line != "---" or not re.match(r"#|name:", lines[first + 1]):
            continue
        last = lines.index("---", first + 1)
        skill_md, is_inner = lines[first : last + 1], False
        for body in lines[last + 1 :]:
            if body == "```" and not is_inner:
                break
            is_inner = body != "```" if body.startswith("```") else is_inner
            skill_md.append(body)
        yield "\n".join(skill_md) + "\n"

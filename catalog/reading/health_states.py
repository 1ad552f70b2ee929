"""States of health with what to do, by subject: a part of the documentation that is packaged."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_NAME = "solve-problems.md"
_PART = re.compile(r"^## States of health$(?P<text>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_SUBJECT = re.compile(
    r"^### (?P<title>[^\n]+)\n(?P<text>.*?)(?=^### |\Z)", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def path() -> Path:
    """Return the page: in an installed package, else in the documentation of the repository."""
    inside = Path(__file__).with_name(_NAME)
    return inside if inside.exists() else Path(__file__).parents[2] / "docs/how-to" / _NAME


@lru_cache(maxsize=1)
def subjects() -> Mapping[str, str]:
    """Return the tables of states by subject, as Markdown without links; none if it is missing."""
    try:
        part = _PART.search(path().read_text("utf-8"))
    except OSError:
        return {}
    found = _SUBJECT.finditer(part["text"]) if part else ()
    return {match[1]: _LINK.sub(r"\1", match[2]).strip() for match in found}

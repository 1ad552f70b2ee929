"""Explanations of findings: one page with a section for each code, which the package carries."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_NAME = "findings.md"
_SECTION = re.compile(
    r"^### `(?P<code>[\w-]+)`\n(?P<text>.*?)(?=^###? `|\Z)", re.DOTALL | re.MULTILINE
)


def path() -> Path:
    """Return the page: in an installed package, else in the documentation of the repository."""
    inside = Path(__file__).with_name(_NAME)
    return inside if inside.exists() else Path(__file__).parents[2] / "docs/reference" / _NAME


def url(code: str, page: str | None = None) -> str:
    """Return the address of a code's section on a page; by default on the installed one.

    A `{code}` in the address of the page stands for the code.
    """
    page = page or path().as_uri()
    return page.replace("{code}", code) if "{code}" in page else f"{page}#{code}"


@lru_cache(maxsize=1)
def sections() -> Mapping[str, str]:
    """Return the section of each code, as Markdown; none if the page is missing."""
    try:
        text = path().read_text("utf-8")
    except OSError:
        return {}
    return {match["code"]: match["text"].strip() for match in _SECTION.finditer(text)}

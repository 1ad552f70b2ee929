"""Explanations of findings and of states of health, from pages that the package carries."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_SECTION = re.compile(
    r"^### `(?P<code>[\w-]+)`\n(?P<text>.*?)(?=^###? `|\Z)", re.DOTALL | re.MULTILINE
)

_STATES = re.compile(r"^## States of health$(?P<text>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_SUBJECT = re.compile(
    r"^### (?P<title>[^\n]+)\n(?P<text>.*?)(?=^### |\Z)", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_FIX = re.compile(r"^\*\*Fix:\*\* (?P<fix>.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLES = re.compile(r"^```diff$", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


class Explanation(NamedTuple):
    """General words about the findings of a code."""

    problem: str  # one line of plain text
    fix: str  # plain text
    text: str  # Markdown: problem, fix, severity and source
    examples: str  # Markdown; empty if there are none


def path(name: str = "reference/findings.md") -> Path:
    """Return a page: in an installed package, else in the documentation of the repository."""
    inside = Path(__file__).with_name(name.rpartition("/")[2])
    return inside if inside.exists() else Path(__file__).parents[3] / "docs" / name


@cache
def sections() -> Mapping[str, str]:
    """Return the section of each code, as Markdown."""
    page = path().read_text("utf-8")
    return {match["code"]: match["text"].strip() for match in _SECTION.finditer(page)}


@cache
def states() -> Mapping[str, str]:
    """Return the tables of states by subject, as Markdown without links."""
    part = _STATES.search(path("how-to/solve-problems.md").read_text("utf-8"))
    found = _SUBJECT.finditer(part["text"]) if part else ()
    return {match["title"]: _LINK.sub(r"\1", match["text"]).strip() for match in found}


def explanation(code: str) -> Explanation | None:
    """Return the explanation of a code; None where the page has no section for it."""
    section = sections().get(code)
    if section is None:
        return None
    start = _EXAMPLES.search(section)
    text = section[: start.start()] if start else section
    fix = _FIX.search(text)
    return Explanation(
        _plain(text.partition("\n\n")[0]),
        _plain(fix["fix"]) if fix else "",
        text.strip(),
        section[len(text) :].strip(),
    )


def _plain(markdown: str) -> str:
    """Return a paragraph of the page as one line without its escapes."""
    return _ESCAPE.sub("", " ".join(markdown.split())).replace("`", "")

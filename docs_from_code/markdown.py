"""Conversion of plain text to Markdown."""

import re

_AS_WRITTEN = re.compile(r"(`[^`]*`|\[[^\]]*\]\((?:\.\./|https?:)[^)\s]*\))")
"""Code, and links to other pages."""


def prose(text: str) -> str:
    """Return text that Markdown shows literally; text in backticks stays code, links are links."""
    pieces = _AS_WRITTEN.split(text)
    for number in range(0, len(pieces), 2):
        for mark in r"\*_<>[]#":
            pieces[number] = pieces[number].replace(mark, f"\\{mark}")
    return "".join(pieces)


def cell(text: str) -> str:
    """Return such text for a table cell: on one line, with escaped bars."""
    return prose(" ".join(text.split())).replace("|", r"\|")

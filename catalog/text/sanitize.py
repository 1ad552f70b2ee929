"""Untrusted text made safe to put into a prompt: one line, and nothing hidden in it."""

import html
import re

from catalog.text.invisible import all_visible, is_invisible


def one_line(text: str) -> str:
    """Return the text without control, bidi or invisible characters, its whitespace collapsed.

    What is left cannot start a new line or hide words from a person who reads along.
    """
    if not all_visible(text):
        text = "".join(
            " " if c.isspace() else c for c in text if c.isspace() or not is_invisible(c)
        )
    return _SPACES.sub(" ", text).strip()


def in_xml(text: str) -> str:
    """Return one line that stands between two tags and cannot close them."""
    return html.escape(one_line(text), quote=False)


def in_attribute(text: str) -> str:
    """Return one line that stands in double quotes and cannot end them."""
    return in_xml(text).replace('"', "&quot;")


def in_markdown(text: str) -> str:
    """Return one line of Markdown that reads as it is written: no emphasis, links or HTML."""
    return _MARKS.sub(r"\\\g<0>", html.escape(one_line(text), quote=False).replace("&gt;", ">"))


def in_code(text: str) -> str:
    """Return one line as a code span of Markdown, whatever backticks are in it."""
    line = one_line(text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[:1], line[-1:]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


_SPACES = re.compile(r"\s+")
_MARKS = re.compile(r"[\\`*_\[\]]")
_BACKTICKS = re.compile(r"`+")

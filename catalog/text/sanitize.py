"""Untrusted text made safe for a prompt: one line without hidden characters."""

import html
import re

from catalog.text.invisible import all_visible, is_invisible


def one_line(text: str) -> str:
    """Return a text without control, bidi or invisible characters, its whitespace collapsed.

    The result cannot start a new line or hide words from a reader.
    """
    if not all_visible(text):
        text = "".join(
            " " if c.isspace() else c for c in text if c.isspace() or not is_invisible(c)
        )
    return _SPACES.sub(" ", text).strip()


def in_xml(text: str) -> str:
    """Return one line to put between two tags, which it cannot close."""
    return html.escape(one_line(text), quote=False)


def in_attribute(text: str) -> str:
    """Return one line to put in double quotes, which it cannot end."""
    return in_xml(text).replace('"', "&quot;")


def in_markdown(text: str) -> str:
    """Return one line of Markdown that shows the text as it is: no emphasis, links or HTML."""
    return _MARKS.sub(r"\\\g<0>", html.escape(one_line(text), quote=False).replace("&gt;", ">"))


def in_code(text: str) -> str:
    """Return one line as a code span of Markdown, even with backticks in it."""
    line = one_line(text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[:1], line[-1:]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


_SPACES = re.compile(r"\s+")
_MARKS = re.compile(r"[\\`*_\[\]]")
_BACKTICKS = re.compile(r"`+")

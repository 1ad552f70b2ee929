"""Marks for characters that are invisible or that reverse the direction of text."""

import re
from typing import Any

from markupsafe import Markup, escape

from catalog.text import visible
from catalog.text.visible import visible_prose


def marked(text: str) -> Markup:
    """Return a text as HTML with one mark for each run of such characters."""
    return Markup(visible.substituted(str(escape(text)), _mark))


def in_html(html: str) -> str:
    """Return HTML with the same marks in its text, and plain code points in its tags."""
    if html.isascii() or visible_prose(html) == html:
        return html
    return _PARTS.sub(
        lambda part: (
            visible_prose(part[0])
            if part[0].startswith("<")
            else visible.substituted(part[0], _mark)
        ),
        html,
    )


def plain(value: Any) -> Any:
    """Return a text with code points in place of such characters; other values are unchanged.

    As Jinja's `finalize`, it receives each value before escaping, also in attributes and titles.
    """
    return visible_prose(value) if type(value) is str else value


def _mark(run: str) -> str:
    name = visible.character_name(run[0]) + (f", and {len(run) - 1:,} more" if len(run) > 1 else "")
    return f'<span class="unseen" title="{escape(name)}">{visible_prose(run)}</span>'


# A tag, whose quoted attributes may contain ">", or text.
_PARTS = re.compile(r'<(?:[^"<>]|"[^"]*")*+>|[^<]+|<')

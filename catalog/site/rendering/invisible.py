"""Characters that nobody sees, or that turn a text about, marked on the pages."""

import re
from typing import Any

from markupsafe import Markup, escape

from catalog.text import invisible
from catalog.text.display import visible_prose


def marked(text: str) -> Markup:
    """Return a text as HTML with each run of such characters in a mark of its own."""
    return Markup(invisible.substituted(str(escape(text)), _mark))


def in_html(html: str) -> str:
    """Return HTML with the same marks in its text, and the code points alone in its tags."""
    if html.isascii() or visible_prose(html) == html:
        return html
    return _PARTS.sub(
        lambda part: (
            visible_prose(part[0])
            if part[0].startswith("<")
            else invisible.substituted(part[0], _mark)
        ),
        html,
    )


def plain(value: Any) -> Any:
    """Return what a template writes: texts with code points, anything else as it is.

    As Jinja's `finalize` it sees each value before it is escaped, in attributes and titles, too.
    """
    return visible_prose(value) if type(value) is str else value


def _mark(run: str) -> str:
    name = invisible.name(run[0]) + (f", and {len(run) - 1:,} more" if len(run) > 1 else "")
    return f'<span class="unseen" title="{escape(name)}">{visible_prose(run)}</span>'


# A tag, whose attributes may hold what looks like the end of it, or text.
_PARTS = re.compile(r'<(?:[^"<>]|"[^"]*")*+>|[^<]+|<')

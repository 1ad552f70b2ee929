"""Safe HTML from the Markdown of skills: it runs nothing and loads nothing from elsewhere.

Three barriers stop a hostile text: raw HTML stays text, a sanitiser keeps only the tags and
attributes listed here, and the policy of the page forbids the rest. A text that is too long, too
deeply nested, or takes too much time, is not rendered: the page shows its source.
"""

import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import nh3
from pyromark import Markdown, Options

from catalog.site.rendering import formatting, highlight, links
from catalog.site.rendering.links import SCHEMES, Heading, LinkBase

LONGEST = 200_000
"""Most characters of a text that is rendered."""
DEEPEST = 100
"""Most elements in one another, such as lists in lists."""
SECONDS = 1.0
"""Most processor time for rendering a text; nearly all texts take a hundredth of it."""
_TAGS = set(
    "h1 h2 h3 h4 h5 h6 p br hr em strong s code pre blockquote ul ol li a img table thead"
    " tbody tr th td span".split()
)
_ATTRIBUTES = {
    "a": {"href", "title", "aria-label"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_CLASSES = {"a": {"anchor"}, "span": {*highlight.CLASSES, "missing"}}
SANITISER = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    # The keyboard scrolls code and tables.
    set_tag_attribute_values={"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
    allowed_classes=_CLASSES,
    url_schemes=set(SCHEMES),
    link_rel="noopener noreferrer nofollow",
)
_PARSER = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_SUBSCRIPT
    | Options.ENABLE_TASKLISTS
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Rendered text, or the reason why it is not rendered."""

    html: str = ""
    contents: tuple[Heading, ...] = ()
    unrendered_reason: str = ""  # a clause such as "it is nested more than 100 deep"


_NOWHERE = LinkBase()


def render(text: str, base: LinkBase = _NOWHERE, seconds: float = SECONDS) -> Rendered:
    """Return a Markdown text as safe HTML.

    seconds limits the processor time; a text beyond a limit is not rendered.
    """
    try:
        page = _Page(text, base, seconds)
        html = SANITISER.clean(page.html())
    except _NotRendered as error:
        return Rendered(unrendered_reason=str(error))
    return Rendered(formatting.in_html(html), links.contents(page.headings))


class _NotRendered(Exception):
    """A text is beyond a limit."""


_TAGS_OF = {
    "Paragraph": ("<p>", "</p>\n"),
    "HtmlBlock": ("<p>", "</p>\n"),
    "BlockQuote": ("<blockquote>\n", "</blockquote>\n"),
    "Item": ("<li>", "</li>\n"),
    "Table": ("<table>\n", "</tbody>\n</table>\n"),
    "TableHead": ("<thead>\n<tr>", "</tr>\n</thead>\n<tbody>\n"),
    "TableRow": ("<tr>", "</tr>\n"),
    "Emphasis": ("<em>", "</em>"),
    "Strong": ("<strong>", "</strong>"),
    "Strikethrough": ("<s>", "</s>"),
    "Subscript": ("~", "~"),  # of `~$5 (~$2 a day)`, which GitHub strikes through
}
_CELLS = {"TableHead": "th", "TableRow": "td"}
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}


_MAYBE_HTML = re.compile(r"\n[ \t>*+\-\d.)]*<")
_PASSES = 4


def _named(event: Any) -> tuple[str, Any]:
    """Return the name of an event or element with its data."""
    return (event, None) if isinstance(event, str) else event.popitem()


def _titled(title: str) -> str:
    return f' title="{escape(title)}"' if title else ""


class _Page:
    """HTML of a text, written as the parser tells of it; raises _NotRendered."""

    def __init__(self, text: str, base: LinkBase, seconds: float) -> None:
        if len(text) > LONGEST:
            raise _NotRendered(f"it has {len(text):,} characters, and the limit is {LONGEST:,}")
        self.headings: list[Heading] = []
        self._base, self._seconds = base, seconds
        self._end = time.thread_time() + seconds
        self._events = map(_named, self._in_time(_PARSER.events(self._without_html(text))))
        self._html: list[str] = []
        self._words: list[str] = []  # since the start of a heading
        self._heading = 0  # place of its first tag
        self._link = (0, "", "")  # the same, with address and title
        self._links: list[tuple[int, int, str, str]] = []
        self._taken: dict[str, int] = {}  # last number given to an anchor
        self._cell, self._depth = "td", 0

    def html(self) -> str:
        """Return the HTML."""
        for kind, value in self._events:
            if kind == "Start":
                self._open(*_named(value))
            elif kind == "End":
                self._close(*_named(value))
            elif kind == "TaskListMarker":
                self._html.append("☑ " if value else "☐ ")
            elif kind in _BREAKS:
                self._html.append(_BREAKS[kind])
            else:
                self._words.append(value)
                html = escape(value, quote=False)
                self._html.append(f"<code>{html}</code>" if kind == "Code" else html)
        anchors = {heading.anchor for heading in self.headings}
        for last, first, address, title in self._links:
            tags = self._tags_of_link(address, title, anchors)
            self._html[first], self._html[last] = tags
        return "".join(self._html)

    def _in_time(self, events: Iterator[Any]) -> Iterator[Any]:
        for number, event in enumerate(events):
            if number % 64 == 0 and time.thread_time() > self._end:
                raise _NotRendered(f"rendering takes more than {self._seconds:g} s")
            yield event

    def _without_html(self, text: str) -> str:
        """Return a text in which blocks of HTML begin with `\\<`, so that Markdown in them is read.

        The first line of a block may hide others, so a few passes are made.
        """
        for _ in range(_PASSES if _MAYBE_HTML.search(f"\n{text}") else 0):
            data, end, parts = text.encode(), 0, []
            for event, place in self._in_time(_PARSER.events_with_range(text, merge_text=True)):
                if event == {"Start": "HtmlBlock"}:
                    start = data.index(b"<", place["start"])
                    parts.append(data[end:start])
                    end = start
            text = b"\\".join((*parts, data[end:])).decode()
            if not parts:
                break
        return text

    def _open(self, name: str, data: Any) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _NotRendered(f"it is nested more than {DEEPEST} deep")
        self._cell = _CELLS.get(name, self._cell)
        html = ""
        if name == "TableCell":
            html = f"<{self._cell}>"
        elif name == "Heading":
            self._heading, self._words = len(self._html), []
        elif name == "Link":
            is_mail = data["link_type"] == "Email"
            address = "mailto:" * is_mail + data["dest_url"]
            self._link = (len(self._html), address, data["title"])
        elif name == "Image":
            html = self._picture(data["dest_url"], data["title"])
        elif name == "CodeBlock":
            html = self._code("" if data == "Indented" else data["Fenced"])
        elif name == "List":
            html = "<ul>\n" if data is None else f'<ol start="{data}">\n'
        else:
            html = _TAGS_OF[name][0]
        self._html.append(html)

    def _close(self, name: str, data: Any) -> None:
        self._depth -= 1
        html = ""
        if name == "TableCell":
            html = f"</{self._cell}>"
        elif name == "Heading":
            html = self._end_of_heading(int(data[1:]))
        elif name == "Link":
            self._links.append((len(self._html), *self._link))
        elif name == "List":
            html = "</ol>\n" if data else "</ul>\n"
        else:
            html = _TAGS_OF[name][1]
        self._html.append(html)

    def _end_of_heading(self, level: int) -> str:
        """Give a heading an anchor and a level below those of the page; return a link to it."""
        text = "".join(self._words).strip()
        anchor = links.anchor(text, self._taken)
        self.headings.append(Heading(level, text, anchor))
        tag = f"h{min(level + 2, 6)}"
        self._html[self._heading] = f'<{tag} id="{escape(anchor)}">'
        label = escape(f"Link to {text[: links.LONGEST]}")
        return f'<a class="anchor" href="#{escape(anchor)}" aria-label="{label}">#</a></{tag}>\n'

    def _tags_of_link(self, address: str, title: str, anchors: Collection[str]) -> tuple[str, str]:
        """Point a link to a page of the site, or only name its target."""
        target = self._base.link(address, anchors)
        if target.note:  # an <a> without an address would be a link that leads nowhere
            return "<span>", f'</span> <span class="missing">({target.note})</span>'
        return f'<a href="{escape(target.address)}"{_titled(title)}>', "</a>"

    def _picture(self, source: str, title: str) -> str:
        """Return a picture that is a file of the skill, or only its name."""
        name = self._text_of_element()
        if address := self._base.picture(source):
            return f'<img src="{escape(address)}" alt="{escape(name)}"{_titled(title)}>'
        return escape(f"[picture: {name or source}]")

    def _code(self, info: str) -> str:
        """Return a block of code, highlighted as long as there is time."""
        code, language, lines = self._text_of_element(), info.split(), None
        if language:
            left = self._end - time.thread_time()
            lines = highlight.lines(code, language[0].strip("{.}"), max(0, left / 2))
        html = "\n".join(lines) if lines is not None else escape(code, quote=False)
        return f"<pre><code>{html}</code></pre>\n"

    def _text_of_element(self) -> str:
        """Return the text of the element that has just been opened, and read its end."""
        depth, words = self._depth, []
        for kind, value in self._events:
            if kind == "Start":
                self._depth += 1
            elif kind == "End":
                self._depth -= 1
                if self._depth < depth:
                    break
            elif kind not in _BREAKS:
                words.append(value)
        return "".join(words)

"""The Markdown of skills as HTML that is safe to show: nothing in it runs or calls elsewhere.

Two walls stand before a hostile text: the renderer leaves raw HTML as the words it is, and a
sanitiser lets through only what is listed here. The policy of the page is the third. A text that
is too long, or takes too much time, is not rendered: the page shows it as it is written.
"""

import hashlib
import posixpath
import re
import time
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from catalog.site.rendering import invisible
from catalog.site.rendering.result_cache import ResultCache

LONGEST = 200_000
"""Characters of a text that is rendered."""
MOST_LINES = 10_000
"""Lines of a text that is rendered."""
SECONDS = 1.0
"""Processor time that rendering a text may take; nearly all take a hundredth of that."""
KEPT = 16_000_000
"""Characters of HTML that are kept for the next visitor."""

_TAGS = set(
    "h1 h2 h3 h4 h5 h6 p br hr em strong s code pre blockquote ul ol li a img table thead"
    " tbody tr th td".split()
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "h1": {"id"},
    "h2": {"id"},
    "h3": {"id"},
    "h4": {"id"},
    "h5": {"id"},
    "h6": {"id"},
}
_SCHEMES = {"http", "https", "mailto"}
PICTURES = re.compile(r"\.(png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
"""Ends the path of a file that is shown as a picture."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a rendered text, and the lines of the source that it stands for."""

    first: int  # from 1
    last: int
    html: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as its blocks, or why it is not rendered."""

    blocks: tuple[Block, ...] = ()
    unrendered_reason: str = ""  # completes "It is shown as it is written: …"

    @property
    def size(self) -> int:
        """About the memory that it takes, in characters."""
        return 200 + sum(200 + len(block.html) for block in self.blocks)


BUSY = Rendered(unrendered_reason="the site is rendering other texts at present")
"""Stands for a text whose turn did not come."""


def kept(
    text: str, folder: str, view: str, files: str, skip_lines: int = 0, query: str = ""
) -> Rendered:
    """Return what `render` returns, from the last time where that is not long ago."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return _KEPT.get(
        (digest, folder, view, files, skip_lines, query),
        lambda: render(text, folder, view, files, skip_lines, query),
    )


def render(
    text: str,
    folder: str,
    view: str,
    files: str,
    skip_lines: int = 0,
    query: str = "",
    seconds: float = SECONDS,
) -> Rendered:
    """Return a Markdown text as safe HTML, block by block.

    folder is where it lies in the skill, for its relative links: those to files lead to `view`
    and a path and the query, pictures come from `files` and a path. The first skip_lines are
    frontmatter; the blocks count lines from the beginning of the file all the same. It takes at
    most so many seconds of processor time, and a text that is too much has no blocks.
    """
    if unrendered_reason := _size(text):
        return Rendered(unrendered_reason=unrendered_reason)
    body = "\n" * skip_lines + text.split("\n", skip_lines)[-1] if skip_lines else text
    environment = {_UNTIL: time.thread_time() + seconds}
    try:
        tokens = _parser().parse(body, environment)
        _name_headings(tokens)
        for token in tokens:
            for child in token.children or ():
                _settle(child, folder, view, files, query)
        return Rendered(tuple(_block(run, environment) for run in _runs(tokens)))
    except _TooLong:
        return Rendered(unrendered_reason=f"rendering it takes more than {seconds:g} s")


class _TooLong(Exception):
    """Ends the rendering of a text that takes too much time."""


_UNTIL = "until"  # in what markdown-it hands to its rules
_KEPT: ResultCache[Rendered] = ResultCache(KEPT, lambda rendered: rendered.size)


def _size(text: str) -> str:
    """Return why a text is too large to be rendered; empty where it is not."""
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, and up to {LONGEST:,} are rendered"
    if (lines := text.count("\n") + 1) > MOST_LINES:
        return f"it has {lines:,} lines, and up to {MOST_LINES:,} are rendered"
    return ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20}).enable(
        ["table", "strikethrough"]
    )
    # Asked before all others at each place of a text, these two rules see the time pass.
    parser.block.ruler.before(
        "table",
        "in_time",
        _block_in_time,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    parser.inline.ruler.before("text", "in_time", _inline_in_time)
    return parser


def _block_in_time(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return _in_time(state.env)


def _inline_in_time(state: StateInline, silent: bool) -> bool:
    return _in_time(state.env)


def _in_time(environment: MutableMapping[str, Any]) -> bool:
    if time.thread_time() > environment[_UNTIL]:
        raise _TooLong
    return False  # the rule does not apply, so the next one is asked


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading an anchor, and a level below those of the page that it is shown on."""
    taken: dict[str, int] = {}  # the last number that an anchor was given
    for opening, inside, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open":
            continue
        text = "".join(child.content for child in inside.children or ()).strip()
        slug = anchor = "md-" + re.sub(r"\W+", "-", text.lower()).strip("-")[:60]
        while anchor in taken:
            taken[slug] += 1
            anchor = f"{slug}-{taken[slug]}"
        taken[anchor] = 1
        opening.attrSet("id", anchor)
        opening.tag = closing.tag = f"h{min(int(opening.tag[1:]) + 2, 6)}"


def _settle(token: Token, folder: str, view: str, files: str, query: str) -> None:
    """Let links lead to our pages, and pictures come from the skill or be named only."""
    if token.type == "link_open":
        token.attrSet("href", _target(str(token.attrGet("href") or ""), folder, view, query))
    elif token.type == "image":
        source = str(token.attrGet("src") or "")
        inside = _inside(source, folder)
        if inside and PICTURES.search(inside):
            token.attrSet("src", files + quote(inside))
        else:
            # A picture of another host would tell it who reads this; one we do not serve as a
            # picture would be a broken one.
            token.type, token.tag, token.nesting = "text", "", 0
            token.content = f"[picture: {token.content or source}]"
            token.children = None


def _target(href: str, folder: str, view: str, query: str) -> str:
    if href.startswith("#"):
        return f"#md-{unquote(href[1:]).lower()}"
    inside = _inside(href, folder)
    return view + quote(inside) + query if inside else href


def _inside(href: str, folder: str) -> str | None:
    """Return the path in the skill that a relative link means; None where it means none."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    return None if path.startswith("..") or path == "." else path


def _runs(tokens: Sequence[Token]) -> "list[list[Token]]":
    """Cut the tokens where a block of the outermost level ends."""
    runs: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            runs.append([])
        runs[-1].append(token)
        depth += token.nesting
    return runs


def _block(run: list[Token], environment: MutableMapping[str, Any]) -> Block:
    _in_time(environment)
    parser = _parser()
    html = parser.renderer.render(run, parser.options, {})
    first, last = run[0].map or (0, 0)
    return Block(first + 1, last, invisible.in_html(_reachable(_sanitise(html))))


def _reachable(html: str) -> str:
    """Let what may be wider than the page be scrolled by keyboard, too."""
    return html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )

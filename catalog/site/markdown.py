"""The Markdown of skills as HTML that is safe to show: nothing in it runs or calls elsewhere.

Two walls stand before a hostile text: the renderer leaves raw HTML as the words it is, and a
sanitiser lets through only what is listed here. The policy of the page is the third.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST = 400_000
"""Characters of a text that are rendered; a longer one is to be read as a file."""

_TAGS = set("h1 h2 h3 h4 h5 h6 p br hr em strong s code pre blockquote ul ol li a img table thead"
            " tbody tr th td".split())
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"},
               "h1": {"id"}, "h2": {"id"}, "h3": {"id"}, "h4": {"id"}, "h5": {"id"},
               "h6": {"id"}}
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
class Heading:
    """A heading of the text, to be led to."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as its blocks, and the way through it."""

    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...]
    is_cut: bool = False


@lru_cache(maxsize=256)
def render(text: str, folder: str, view: str, files: str, skip_lines: int = 0,
           query: str = "") -> Rendered:
    """Return a Markdown text as safe HTML, block by block.

    folder is where it lies in the skill, for its relative links: those to files lead to `view`
    and a path and the query, pictures come from `files` and a path. The first skip_lines are
    frontmatter; the blocks count lines from the beginning of the file all the same.
    """
    is_cut = len(text) > LONGEST
    body = "\n" * skip_lines + text[:LONGEST].split("\n", skip_lines)[-1] if skip_lines else text
    tokens = _parser().parse(body[:LONGEST])
    headings = tuple(_name_headings(tokens))
    for token in tokens:
        for child in token.children or ():
            _settle(child, folder, view, files, query)
    blocks = tuple(_block(run) for run in _runs(tokens))
    return Rendered(blocks, headings, is_cut)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20}).enable(
        ["table", "strikethrough"])


def _name_headings(tokens: Sequence[Token]) -> "list[Heading]":
    """Give each heading an anchor, and a level below those of the page that it is shown on."""
    found: list[Heading] = []
    taken: set[str] = set()
    for token, inside in pairwise([*tokens, *tokens[-1:]]):
        if token.type == "heading_close":
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
        if token.type != "heading_open":
            continue
        text = "".join(child.content for child in inside.children or ()).strip()
        slug = anchor = "md-" + re.sub(r"\W+", "-", text.lower()).strip("-")[:60]
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{slug}-{number}"
        taken.add(anchor)
        token.attrSet("id", anchor)
        found.append(Heading(int(token.tag[1:]), text, anchor))
        token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    return found


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


def _block(run: list[Token]) -> Block:
    parser = _parser()
    html = parser.renderer.render(run, parser.options, {})
    first, last = run[0].map or (0, 0)
    return Block(first + 1, last, _reachable(_sanitise(html)))


def _reachable(html: str) -> str:
    """Let what may be wider than the page be scrolled by keyboard, too."""
    return html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')


def _sanitise(html: str) -> str:
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES,
                     link_rel="noopener noreferrer nofollow")



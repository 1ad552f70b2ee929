"""Safe HTML from the Markdown of skills: it runs nothing and loads nothing from elsewhere.

Three barriers stop a hostile text: the renderer escapes raw HTML, a sanitiser keeps only the tags
and attributes listed here, and the policy of the page forbids the rest. A text that is too long,
or takes too much time, is not rendered: the page shows its source.
"""

import hashlib
import posixpath
import re
import time
from collections.abc import Mapping, MutableMapping, Sequence
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
"""Most characters of a text that is rendered."""
MOST_LINES = 10_000
"""Most lines of a text that is rendered."""
SECONDS = 1.0
"""Most processor time for rendering a text; nearly all texts take a hundredth of it."""
KEPT = 16_000_000
"""Most characters of HTML in the cache."""

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
_NO_LINKS: Mapping[str, str] = {}
PICTURES = re.compile(r"\.(png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
"""Pattern of file names that are shown as pictures."""


@dataclass(frozen=True, slots=True)
class Block:
    """Part of a rendered text, with its lines in the source."""

    first: int  # from 1
    last: int
    html: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """Rendered blocks of a text, or the reason why it is not rendered."""

    blocks: tuple[Block, ...] = ()
    unrendered_reason: str = ""  # a clause such as "it has 12,000 lines, the limit is 10,000"

    @property
    def size(self) -> int:
        """Approximate memory, in characters."""
        return 200 + sum(200 + len(block.html) for block in self.blocks)


BUSY = Rendered(unrendered_reason="the site is busy rendering other texts")
"""Result for a text that waited too long."""


def kept(
    text: str,
    folder: str,
    view: str,
    files: str,
    skip_lines: int = 0,
    query: str = "",
    outside: Mapping[str, str] = _NO_LINKS,
) -> Rendered:
    """Return the result of `render`, from the cache if possible."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return _CACHE.get(
        (digest, folder, view, files, skip_lines, query, frozenset(outside.items())),
        lambda: render(text, folder, view, files, skip_lines, query, outside),
    )


def render(
    text: str,
    folder: str,
    view: str,
    files: str,
    skip_lines: int = 0,
    query: str = "",
    outside: Mapping[str, str] = _NO_LINKS,
    seconds: float = SECONDS,
) -> Rendered:
    """Return a Markdown text as safe HTML, block by block.

    folder is the folder of the text in the skill, for its relative links: a link to a file leads
    to `view`, the path and the query; a picture comes from `files` and the path. outside has the
    URLs of links that lead out of the skill, by their paths relative to it; the others are no
    links. The first skip_lines are frontmatter; the line numbers of the blocks include them.
    seconds limits the processor time; a text beyond a limit has no blocks.
    """
    if reason := _too_large(text):
        return Rendered(unrendered_reason=reason)
    body = "\n" * skip_lines + text.split("\n", skip_lines)[-1] if skip_lines else text
    environment = {_DEADLINE: time.thread_time() + seconds}
    try:
        tokens = _parser().parse(body, environment)
        _name_headings(tokens)
        for token in tokens:
            for child in token.children or ():
                _rewrite_target(child, folder, view, files, query, outside)
        return Rendered(tuple(_block(run, environment) for run in _runs(tokens)))
    except _TooSlow:
        return Rendered(unrendered_reason=f"rendering takes more than {seconds:g} s")


class _TooSlow(Exception):
    """Rendering of a text takes too much time."""


_DEADLINE = "deadline"  # key in the environment that markdown-it passes to its rules
_CACHE: ResultCache[Rendered] = ResultCache(KEPT, lambda rendered: rendered.size)


def _too_large(text: str) -> str:
    """Return the reason why a text is too large to be rendered; empty if it is not."""
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, and the limit is {LONGEST:,}"
    if (lines := text.count("\n") + 1) > MOST_LINES:
        return f"it has {lines:,} lines, and the limit is {MOST_LINES:,}"
    return ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20}).enable(
        ["table", "strikethrough"]
    )
    # markdown-it tries these two rules first at each place of a text, so they can check the time.
    parser.block.ruler.before(
        "table",
        "deadline",
        _block_deadline,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    parser.inline.ruler.before("text", "deadline", _inline_deadline)
    return parser


def _block_deadline(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return _check_deadline(state.env)


def _inline_deadline(state: StateInline, silent: bool) -> bool:
    return _check_deadline(state.env)


def _check_deadline(environment: MutableMapping[str, Any]) -> bool:
    if time.thread_time() > environment[_DEADLINE]:
        raise _TooSlow
    return False  # the rule does not apply, so markdown-it tries the next one


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading an anchor, and a level below the headings of the page."""
    taken: dict[str, int] = {}  # last number given to an anchor
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open":
            continue
        text = "".join(child.content for child in inline.children or ()).strip()
        slug = anchor = "md-" + re.sub(r"\W+", "-", text.lower()).strip("-")[:60]
        while anchor in taken:
            taken[slug] += 1
            anchor = f"{slug}-{taken[slug]}"
        taken[anchor] = 1
        opening.attrSet("id", anchor)
        opening.tag = closing.tag = f"h{min(int(opening.tag[1:]) + 2, 6)}"


def _rewrite_target(
    token: Token, folder: str, view: str, files: str, query: str, outside: Mapping[str, str]
) -> None:
    """Point links to the site's pages and pictures to files of the skill, or only name them."""
    if token.type == "link_open":
        href = str(token.attrGet("href") or "")
        if (place := _path_outside(href, folder)) is None:
            token.attrSet("href", _target(href, folder, view, query))
        elif place in outside:
            token.attrSet("href", outside[place])
        else:
            del token.attrs["href"]
    elif token.type == "image":
        source = str(token.attrGet("src") or "")
        path = _path_in_skill(source, folder)
        if path and PICTURES.search(path):
            token.attrSet("src", files + quote(path))
        else:
            # A picture from another host would reveal the visitor to it; a file that the site
            # does not serve as a picture would be a broken one.
            token.type, token.tag, token.nesting = "text", "", 0
            token.content = f"[picture: {token.content or source}]"
            token.children = None


def _target(href: str, folder: str, view: str, query: str) -> str:
    if href.startswith("#"):
        return f"#md-{unquote(href[1:]).lower()}"
    path = _path_in_skill(href, folder)
    return view + quote(path) + query if path else href


def _path_in_skill(href: str, folder: str) -> str | None:
    """Return the path in the skill of a relative link; None for any other link."""
    path = _relative(href, folder)
    return None if path is None or _leads_out(path) or path == "." else path


def _path_outside(href: str, folder: str) -> str | None:
    """Return the path, relative to the skill, of a link out of it; None for any other link."""
    path = _relative(href, folder)
    return path if path is not None and _leads_out(path) else None


def _leads_out(path: str) -> bool:
    return path == ".." or path.startswith("../")


def _relative(href: str, folder: str) -> str | None:
    """Return the normalised path of a relative link; None for any other link."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return None
    return posixpath.normpath(posixpath.join(folder, unquote(parts.path)))


def _runs(tokens: Sequence[Token]) -> "list[list[Token]]":
    """Split the tokens at the ends of top-level blocks."""
    runs: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            runs.append([])
        runs[-1].append(token)
        depth += token.nesting
    return runs


def _block(run: list[Token], environment: MutableMapping[str, Any]) -> Block:
    _check_deadline(environment)
    parser = _parser()
    html = parser.renderer.render(run, parser.options, {})
    first, last = run[0].map or (0, 0)
    return Block(first + 1, last, invisible.in_html(_focusable(_sanitise(html))))


def _focusable(html: str) -> str:
    """Let code and tables wider than the page be scrolled by keyboard."""
    return html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )

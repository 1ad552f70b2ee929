"""Safe HTML from the Markdown of skills: it runs nothing and loads nothing from elsewhere.

Three barriers stop a hostile text: the renderer escapes raw HTML, a sanitiser keeps only the tags
and attributes listed here, and the policy of the page forbids the rest. A text that is too long,
or takes too much time, is not rendered: the page shows its source.
"""

import re
import time
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import escape

from catalog.site.rendering import formatting, highlight, links
from catalog.site.rendering.links import SCHEMES, Heading, LinkBase

LONGEST = 200_000
"""Most characters of a text that is rendered."""
MOST_LINES = 10_000
"""Most lines of a text that is rendered."""
SECONDS = 1.0
"""Most processor time for rendering a text; nearly all texts take a hundredth of it."""
HIGHLIGHTED = 60_000
"""Most characters of code in a text that are highlighted: the first ones."""
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


@dataclass(frozen=True, slots=True)
class Rendered:
    """Rendered text, or the reason why it is not rendered."""

    html: str = ""
    contents: tuple[Heading, ...] = ()
    unrendered_reason: str = ""  # a clause such as "it has 12,000 lines, the limit is 10,000"


_NOWHERE = LinkBase()


def render(text: str, base: LinkBase = _NOWHERE, seconds: float = SECONDS) -> Rendered:
    """Return a Markdown text as safe HTML.

    seconds limits the processor time; a text beyond a limit is not rendered.
    """
    if reason := _too_large(text):
        return Rendered(unrendered_reason=reason)
    environment = {
        _NOT_BEFORE: time.monotonic() + seconds,
        _DEADLINE: time.thread_time() + seconds,
        _ROOM: HIGHLIGHTED,
    }
    try:
        tokens = _parser().parse(text, environment)
        entries = links.number(tokens)
        anchors = {entry.anchor for entry in entries}
        for index, token in enumerate(tokens):
            if token.children:
                if index > 1 and tokens[index - 2].type == "list_item_open":
                    _draw_task(token.children[0])
                token.children = _with_targets(token.children, base, anchors)
        html = _parser().renderer.render(tokens, _parser().options, environment)
        return Rendered(formatting.in_html(_sanitise(html)), links.contents(entries))
    except _TooSlow:
        return Rendered(unrendered_reason=f"rendering takes more than {seconds:g} s")


class _TooSlow(Exception):
    """Rendering of a text takes too much time."""


# Keys in the environment that markdown-it passes to its rules.
_NOT_BEFORE, _DEADLINE, _ROOM = "not_before", "deadline", "room"


def _too_large(text: str) -> str:
    """Return the reason why a text is too large to be rendered; empty if it is not."""
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, and the limit is {LONGEST:,}"
    if (lines := text.count("\n") + 1) > MOST_LINES:
        return f"it has {lines:,} lines, and the limit is {MOST_LINES:,}"
    return ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])
    parser.inline.terminator_re = _MARKUP
    # markdown-it tries these two rules first at each place of a text, so they can check the time.
    parser.block.ruler.before(
        "table",
        "deadline",
        _check_deadline,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    parser.inline.ruler.before("text", "deadline", _check_deadline)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("heading_close", _heading_end)
    return parser


_MARKUP = re.compile(r"[\n!&*<\[\\\]_`~]")
"""Characters at which a rule may apply; markdown-it tries all rules at forty others, too."""


def _check_deadline(state: StateBlock | StateInline, *_: Any) -> bool:
    # Processor time, which costs a system call, cannot pass faster than the time of day.
    if time.monotonic() > state.env[_NOT_BEFORE] and time.thread_time() > state.env[_DEADLINE]:
        raise _TooSlow
    return False  # the rule does not apply, so markdown-it tries the next one


def _with_targets(tokens: Sequence[Token], base: LinkBase, anchors: "set[str]") -> list[Token]:
    """Point links to the site's pages and pictures to files of the skill, or only name them."""
    result: list[Token] = []
    note = ""
    for token in tokens:
        result.append(token)
        if token.type == "link_open" and "class" not in token.attrs:
            target = base.link(str(token.attrGet("href") or ""), anchors)
            token.attrSet("href", target.address)
            note = target.note
            if note:  # an <a> without an address would be a link that leads nowhere
                token.tag, token.attrs = "span", {}
        elif token.type == "link_close" and note:
            token.tag = "span"
            html = f' <span class="missing">({note})</span>'
            result.append(Token("html_inline", "", 0, content=html))
            note = ""
        elif token.type == "image":
            _rewrite_picture(token, base)
    return result


def _draw_task(token: Token) -> None:
    """Draw the box at the start of an item of a list of tasks, which GitHub's Markdown has."""
    box = _TASKS.get(token.content[:4].lower())
    if token.type == "text" and box:
        token.content = box + token.content[4:]


_TASKS = {"[ ] ": "☐ ", "[x] ": "☑ "}


def _rewrite_picture(token: Token, base: LinkBase) -> None:
    source = str(token.attrGet("src") or "")
    if address := base.picture(source):
        token.attrSet("src", address)
        return
    token.type, token.tag, token.nesting = "text", "", 0
    token.content = f"[picture: {token.content or source}]"
    token.children = None


def _code(
    _: RendererHTML, tokens: Sequence[Token], index: int, *rest: MutableMapping[str, Any]
) -> str:
    """Return a block of code, highlighted as long as there is room."""
    code, info = tokens[index].content, tokens[index].info.split()
    environment, lines = rest[-1], None
    if info and len(code) <= environment[_ROOM]:
        environment[_ROOM] -= len(code)
        left = environment[_DEADLINE] - time.thread_time()
        lines = highlight.lines(code, info[0].strip("{.}"), max(0, left / 2))
    html = "\n".join(lines) if lines is not None else str(escape(code))
    return f"<pre><code>{html}</code></pre>\n"


def _heading_end(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: object) -> str:
    """Return the end of a heading with a link to it."""
    opening, tag = tokens[index - 2], tokens[index].tag
    anchor = escape(opening.attrGet("id") or "")
    label = escape(f"Link to {tokens[index - 1].content[: links.LONGEST]}")
    return f'<a class="anchor" href="#{anchor}" aria-label="{label}">#</a></{tag}>\n'


def _sanitise(html: str) -> str:
    """Return HTML with the allowed tags and attributes; the keyboard scrolls code and tables."""
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        set_tag_attribute_values={"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
        allowed_classes=_CLASSES,
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )

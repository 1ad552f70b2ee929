"""Walk along the links of the site, page by page."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

_LINK = re.compile(r'<(?:a|img|link|script|form|area)\b[^>]*?\s(?:href|src|action)="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')


class Answer(NamedTuple):
    """Answer to a request."""

    status: int
    html: str  # empty unless it is a page
    path: str  # after redirects


@dataclass
class Walk:
    """Pages that were visited, and the links that lead nowhere."""

    pages: Counter[str] = field(default_factory=Counter)  # by kind
    broken: list[str] = field(default_factory=list)


class Page(NamedTuple):
    """Visited page. A long one has thousands of ids, so they are one text."""

    ids: str  # a line each
    links: list[tuple[str, str]]  # address and fragment, of the links with one


def walk(
    get: Callable[[str], Answer],
    starts: Iterable[str],
    kind_of: Callable[[str], str],
    most_of: Callable[[str], float],
    progress: Callable[[Walk, int], None] = lambda _walk, _waiting: None,
) -> Walk:
    """Follow the links of pages from some addresses on, and check their fragments, too.

    Of each kind of address at most so many are visited; an empty kind is left out. Links to other
    sites are not followed. progress gets the walk so far and the number of addresses that wait.
    """
    result, pages = Walk(), dict[str, Page]()
    waiting = deque((start, "the test") for start in starts)
    seen = {start for start, _ in waiting}
    while waiting:
        address, origin = waiting.popleft()
        kind = kind_of(address)
        if not kind or result.pages[kind] >= most_of(kind):
            continue
        result.pages[kind] += 1
        answer = get(address)
        if answer.status >= 400:
            result.broken.append(f"{answer.status} {address} from {origin}")
            continue
        links = list(_links(answer.html, answer.path))
        pages[address] = Page(
            "\n".join(["", *map(unescape, _ID.findall(answer.html)), ""]),
            [link for link in links if link[1]],
        )
        for target, _ in links:
            if target not in seen:
                seen.add(target)
                waiting.append((target, address))
        progress(result, len(waiting))
    result.broken += _without_anchor(pages)
    return result


def _links(html: str, path: str) -> Iterable[tuple[str, str]]:
    for link in dict.fromkeys(_LINK.findall(html)):
        yield from _targets("/" if link.startswith("/") else path, link)


@lru_cache(10_000)
def _targets(path: str, link: str) -> tuple[tuple[str, str], ...]:
    """Return the address and the fragment to which a link leads; none on another site."""
    parts = urlsplit(unescape(link))
    if parts.scheme or parts.netloc:
        return ()
    address, fragment = urldefrag(urljoin(path, unescape(link)))
    return ((address, unquote(fragment)),)


def _without_anchor(pages: dict[str, Page]) -> Iterable[str]:
    for address, page in pages.items():
        for target, fragment in page.links:
            if target in pages and f"\n{fragment}\n" not in pages[target].ids:
                yield f"no #{fragment} in {target}, from {address}"


def parameters(address: str) -> list[str]:
    """Return the names of an address's parameters."""
    return sorted(parse_qs(urlsplit(address).query, keep_blank_values=True))

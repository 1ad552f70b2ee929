"""Walk along the links of the site, page by page."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    """Visited page."""

    ids: frozenset[str]
    links: list[tuple[str, str]]  # address and fragment


def walk(
    get: Callable[[str], Answer],
    starts: Iterable[str],
    kind_of: Callable[[str], str],
    most_of: Callable[[str], float],
) -> Walk:
    """Follow the links of pages from some addresses on, and check their fragments, too.

    Of each kind of address at most so many are visited; an empty kind is left out. Links to other
    sites are not followed.
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
        page = pages[address] = Page(
            frozenset(unescape(name) for name in _ID.findall(answer.html)),
            list(_links(answer.html, answer.path)),
        )
        for target, _ in page.links:
            if target not in seen:
                seen.add(target)
                waiting.append((target, address))
    result.broken += _without_anchor(pages)
    return result


def _links(html: str, path: str) -> Iterable[tuple[str, str]]:
    for link in dict.fromkeys(_LINK.findall(html)):
        parts = urlsplit(unescape(link))
        if not parts.scheme and not parts.netloc:
            address, fragment = urldefrag(urljoin(path, unescape(link)))
            yield address, unquote(fragment)


def _without_anchor(pages: dict[str, Page]) -> Iterable[str]:
    for address, page in pages.items():
        for target, fragment in page.links:
            if fragment and target in pages and fragment not in pages[target].ids:
                yield f"no #{fragment} in {target}, from {address}"


def parameters(address: str) -> list[str]:
    """Return the names of an address's parameters."""
    return sorted(parse_qs(urlsplit(address).query, keep_blank_values=True))

"""Links and anchors in a text of a skill, as pages of the site."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from catalog.model.paths import linked

PREFIX = "md-"
"""Begins each anchor, so that none is taken for one of the page's own."""
MOST = 150
"""Most headings in a table of contents."""
LONGEST = 100
"""Most characters of a heading there."""
DEEPEST = 3
"""Lowest level of headings there, from 1."""
PICTURES = re.compile(r"\.(png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
"""Pattern of file names that are shown as pictures."""
SCHEMES = frozenset({"http", "https", "mailto"})

MISSING = "not in this package"
_NO_HEADING = "no such heading"
_NO_LINK = "no link"
_LINES = re.compile(r"L\d{1,9}(-L\d{1,9})?")


class Heading(NamedTuple):
    """Entry of a table of contents."""

    level: int  # from 1, the highest in the text
    text: str
    anchor: str


def slug(text: str) -> str:
    """Return the anchor that GitHub gives to a heading: `A & B` becomes `a--b`.

    All but letters, marks, digits, connecting punctuation, spaces and hyphens is removed, and then
    each space is a hyphen.
    """
    kept = (char for char in text.lower() if char in " -" or char.isalpha() or _is_word(char))
    return "".join(kept).replace(" ", "-")


def anchor(text: str, taken: dict[str, int]) -> str:
    """Return the anchor of a heading, and store it in those taken.

    Of equal slugs, the second has `-1` at its end, as on GitHub.
    """
    base = name = slug(text)
    while name in taken:
        taken[base] += 1
        name = f"{base}-{taken[base]}"
    taken[name] = 0
    return PREFIX + name


def contents(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Return the entries of a table of contents, with levels from 1; empty if it would be short.

    A single heading at the top is the title of the text and has no entry.
    """
    top = [heading for heading in headings if heading.level == 1]
    if len(top) == 1:
        headings = [heading for heading in headings if heading.level > 1]
    highest = min((heading.level for heading in headings), default=1)
    entries = [
        Heading(heading.level - highest + 1, heading.text[:LONGEST], heading.anchor)
        for heading in headings
        if heading.text and heading.level - highest < DEEPEST
    ]
    return tuple(entries[:MOST]) if len(entries) > 1 else ()


def _is_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc")


class LinkTarget(NamedTuple):
    """Target of a link; without an address, the note says why there is none."""

    address: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class LinkBase:
    """Place of a text, from which its relative links start."""

    page: str = ""  # of the skill; its files are at `page/view/…`, and raw at `page/files/…`
    query: str = ""  # of these addresses, which selects a folder or a version
    paths: frozenset[str] = frozenset()  # of the skill's files
    outside: Mapping[str, str] = field(default_factory=dict)  # addresses of paths out of the skill

    def link(self, href: str, anchors: Collection[str]) -> LinkTarget:
        """Return the target of a link in a text with some anchors."""
        if href.startswith("#"):
            return _in_text(unquote(href[1:]), anchors)
        try:
            parts = urlsplit(href)
        except ValueError:
            return LinkTarget("", _NO_LINK)
        if parts.scheme or parts.netloc:
            is_safe = not parts.scheme or parts.scheme.lower() in SCHEMES
            return LinkTarget(href) if is_safe else LinkTarget("", _NO_LINK)
        path = _path(parts.path)
        if not path:
            return LinkTarget("", _NO_LINK)
        if path == ".." or path.startswith("../"):
            address = self.outside.get(path, "")
            return LinkTarget(address, "" if address else MISSING)
        if path == ".":
            return LinkTarget(f"{self.page}{self.query}#files")
        if not self._exists(path):
            return LinkTarget("", MISSING)
        lines = f"#{parts.fragment}" if _LINES.fullmatch(parts.fragment) else ""
        return LinkTarget(f"{self.page}/view/{quote(path)}{self.query}{lines}")

    def picture(self, source: str) -> str:
        """Return the address of a picture of the skill; empty for any other picture.

        A picture from another host would reveal the visitor to it; the files of a skill that is not
        active are not published.
        """
        if self.query:
            return ""
        try:
            parts = urlsplit(source)
        except ValueError:
            return ""
        path = _path(parts.path)
        is_ours = not (parts.scheme or parts.netloc) and path and not path.startswith("..")
        if not is_ours or not PICTURES.search(path) or not self._exists(path):
            return ""
        return f"{self.page}/files/{quote(path)}"

    def _exists(self, path: str) -> bool:
        return path in self.paths or any(other.startswith(f"{path}/") for other in self.paths)


def _path(path: str) -> str:
    """Return a path relative to the skill, normalised; one that begins with / starts there."""
    path = unquote(path)
    return linked("", path.lstrip("/") or ".") if path else ""


def _in_text(name: str, anchors: Collection[str]) -> LinkTarget:
    for anchor in (name, name.lower(), slug(name)):
        if PREFIX + anchor in anchors:
            return LinkTarget(f"#{PREFIX}{quote(anchor)}")
    return LinkTarget("", _NO_HEADING) if name else LinkTarget("", _NO_LINK)

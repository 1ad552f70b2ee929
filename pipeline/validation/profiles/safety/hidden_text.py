"""Characters that readers do not see: invisible ones, bidirectional controls and tags."""

import re
from typing import Literal, NamedTuple, TypeAlias

from catalog.text.visible import (
    BIDI,
    CHARACTER_PART,
    FLAG_PART,
    JOINERS,
    LONGEST_QUOTE,
    MARKS,
    NEVER_SEEN,
    SELECTORS,
    TAGS,
)

Kind: TypeAlias = Literal["invisible", "bidi", "tag"]

_ASCII = bytes(range(128))
_RUN = re.compile(f"[{TAGS}{BIDI}{MARKS}{JOINERS}{SELECTORS}{NEVER_SEEN}]++")
_PART = re.compile(
    f"(?:{CHARACTER_PART}|{FLAG_PART})|(?P<bidi>[{BIDI}]+)|(?P<mark>[{MARKS}]+)"
    f"|(?P<tag>(?:(?!{FLAG_PART})[{TAGS}])++)"
    f"|(?P<invisible>(?:(?!{CHARACTER_PART})[{JOINERS}{SELECTORS}{NEVER_SEEN}])++)"
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
_TAG_LETTERS = {
    0xE0000 + code: chr(code) if chr(code).isprintable() else None for code in range(128)
}


class Hidden(NamedTuple):
    """Hidden characters of one kind in one text."""

    kind: Kind
    offset: int  # of the first, in characters
    characters: str

    @property
    def spelled(self) -> str:
        """The text spelled in tags, cut short; "" for other kinds."""
        start = self.characters[: 2 * LONGEST_QUOTE]  # some tags are no letters
        return start.translate(_TAG_LETTERS) if self.kind == "tag" else ""


def hidden_in(text: str) -> tuple[Hidden, ...]:
    """Return the hidden characters of a text, one value per kind, in the order of their offsets.

    Joiners in emoji and in scripts that need them, single variation selectors, flags spelled in
    tags, and directional marks in right-to-left text are not hidden. Source: Unicode Technical
    Standards #39 and #51, Standard Annex #9.
    """
    if text.isascii():
        return ()
    # Nearly every text has a dash or an arrow, so only the few characters beyond ASCII are searched
    # here: without its ASCII bytes, UTF-8 is still UTF-8.
    beyond = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    if not _RUN.search(beyond):
        return ()
    needs_marks = bool(_RIGHT_TO_LEFT.search(beyond))
    found: dict[Kind, list[tuple[int, str]]] = {}
    for run in _RUN.finditer(text):
        at = run.start()
        while at < run.end() and (part := _PART.match(text, at)):
            at = part.end()
            if part["invisible"]:
                found.setdefault("invisible", []).append((part.start(), part[0]))
            elif part["tag"]:
                found.setdefault("tag", []).append((part.start(), part[0]))
            elif part["bidi"] or (part["mark"] and not needs_marks):
                found.setdefault("bidi", []).append((part.start(), part[0]))
    return tuple(
        Hidden(kind, parts[0][0], "".join(characters for _, characters in parts))
        for kind, parts in found.items()
    )

"""Characters that readers do not see: invisible ones, bidirectional controls and tags."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

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

MOST_RUNS = 1_000
"""Runs that are counted in one text; each may have any length."""

_ASCII = bytes(range(128))

_ANY = re.compile(f"[{TAGS}{BIDI}{MARKS}{JOINERS}{SELECTORS}{NEVER_SEEN}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")

_NOTHING = "(?!)"


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden characters of one kind in one text."""

    kind: Kind
    count: int
    has_more: bool  # whether the text has more runs, which were not counted
    offset: int  # of the first, in characters
    character: str  # the first
    spelled: str  # the text spelled in tags, cut short; "" for other kinds


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
    if not _ANY.search(beyond):
        return ()
    marks_are_needed = bool(_RIGHT_TO_LEFT.search(beyond))
    searches = (_INVISIBLE, _BIDI_BUT_MARKS if marks_are_needed else _ALL_BIDI, _TAG)
    results = [hidden for search in searches if (hidden := search.hidden_in(text))]
    return tuple(sorted(results, key=lambda hidden: hidden.offset))


class _Search:
    """Search for the characters of one kind in runs, as a text may contain a million of them."""

    def __init__(self, kind: Kind, characters: str, allowed: str) -> None:
        self._kind = kind
        # The text up to the next run, and the run. Possessive repetitions store nothing to
        # backtrack to, however long they get.
        self._run = re.compile(
            f"[^{characters}]*+(?:(?:{allowed})[^{characters}]*+)*+"
            f"((?:(?!{allowed})[{characters}])++|\\Z)"
        )

    def hidden_in(self, text: str) -> Hidden | None:
        """Return the hidden characters of this kind, or None."""
        matches = islice(self._run.finditer(text), MOST_RUNS + 1)
        runs = [(match.start(1), match[1]) for match in matches if match[1]]
        if not runs:
            return None
        counted = runs[:MOST_RUNS]
        start = "".join(run[:_LETTERS] for _, run in counted)[:_LETTERS]
        return Hidden(
            self._kind,
            sum(len(run) for _, run in counted),
            len(runs) > MOST_RUNS,
            runs[0][0],
            runs[0][1][0],
            start.translate(_TAG_LETTERS) if self._kind == "tag" else "",
        )


_LETTERS = 2 * LONGEST_QUOTE  # more than are shown, because some tags are not letters
_TAG_LETTERS = {
    0xE0000 + code: chr(code) if chr(code).isprintable() else None for code in range(128)
}

_INVISIBLE = _Search("invisible", f"{JOINERS}{SELECTORS}{NEVER_SEEN}", CHARACTER_PART)
_BIDI_BUT_MARKS = _Search("bidi", BIDI, _NOTHING)
_ALL_BIDI = _Search("bidi", f"{BIDI}{MARKS}", _NOTHING)
_TAG = _Search("tag", TAGS, FLAG_PART)

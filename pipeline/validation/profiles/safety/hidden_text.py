"""Characters that a reader of a text does not see: invisible ones, bidi controls and tags."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from catalog.text.invisible import (
    BIDI,
    CHARACTER_PART,
    FLAG_PART,
    JOINERS,
    MARKS,
    NEVER_SEEN,
    SELECTORS,
    TAGS,
)
from catalog.text.quoting import LONGEST_QUOTE

Sort: TypeAlias = Literal["invisible", "bidi", "tag"]

MOST_RUNS = 1_000
"""Places of one text that are counted; each may be a run of any length."""

_ASCII = bytes(range(128))

_ANY = re.compile(f"[{TAGS}{BIDI}{MARKS}{JOINERS}{SELECTORS}{NEVER_SEEN}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")

_NOTHING = "(?!)"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is hidden of one sort in one text."""

    sort: Sort
    count: int
    goes_on: bool  # whether there are more in further places, which were not counted
    offset: int  # of the first, in characters
    character: str  # the first
    says: str  # what tags spell out, cut short; "" for other sorts


def hidden_in(text: str) -> tuple[Hidden, ...]:
    """Return what a text hides, one of each sort at most, in the order of their first places.

    Joiners in emoji and in scripts that need them, single variation selectors, flags spelled in
    tags, and directional marks in right-to-left text belong to the text. Source: Unicode
    Technical Standards #39 and #51, Standard Annex #9.
    """
    if text.isascii():
        return ()
    # Nearly every text has a dash or an arrow, so the few characters beyond ASCII are looked at
    # by themselves: without its ASCII bytes, UTF-8 is still UTF-8.
    beyond = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    if not _ANY.search(beyond):
        return ()
    marks_are_needed = bool(_RIGHT_TO_LEFT.search(beyond))
    sorts = (_INVISIBLE, _BIDI_BUT_MARKS if marks_are_needed else _ALL_BIDI, _TAG)
    found = [hidden for sort in sorts if (hidden := sort.hidden_in(text))]
    return tuple(sorted(found, key=lambda hidden: hidden.offset))


class _Sorted:
    """The characters of one sort, found in runs: a text may hold a million of them."""

    def __init__(self, sort: Sort, characters: str, belongs: str) -> None:
        self._sort = sort
        # What is in order up to the next run, and the run. A possessive repetition keeps nothing
        # to go back to, however long it gets.
        self._run = re.compile(
            f"[^{characters}]*+(?:(?:{belongs})[^{characters}]*+)*+"
            f"((?:(?!{belongs})[{characters}])++|\\Z)"
        )

    def hidden_in(self, text: str) -> Hidden | None:
        """Return what a text hides of this sort."""
        found = islice(self._run.finditer(text), MOST_RUNS + 1)
        runs = [(run.start(1), run[1]) for run in found if run[1]]
        if not runs:
            return None
        counted = runs[:MOST_RUNS]
        says = "".join(run[:_LETTERS] for _, run in counted)[:_LETTERS]
        return Hidden(
            self._sort,
            sum(len(run) for _, run in counted),
            len(runs) > MOST_RUNS,
            runs[0][0],
            runs[0][1][0],
            says.translate(_TAG_LETTERS) if self._sort == "tag" else "",
        )


_LETTERS = 2 * LONGEST_QUOTE  # more than are shown, as some are of no letter
_TAG_LETTERS = {
    0xE0000 + code: chr(code) if chr(code).isprintable() else None for code in range(128)
}

_INVISIBLE = _Sorted("invisible", f"{JOINERS}{SELECTORS}{NEVER_SEEN}", CHARACTER_PART)
_BIDI_BUT_MARKS = _Sorted("bidi", BIDI, _NOTHING)
_ALL_BIDI = _Sorted("bidi", f"{BIDI}{MARKS}", _NOTHING)
_TAG = _Sorted("tag", TAGS, FLAG_PART)

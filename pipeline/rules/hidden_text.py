"""Characters that a reader of a text does not see: invisible ones, bidi controls and tags."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from pipeline.findings.wording import LONGEST_QUOTE

Sort: TypeAlias = Literal["invisible", "bidi", "tag"]

MOST_RUNS = 1_000
"""Places of one text that are counted; each may be a run of any length."""

_ASCII = bytes(range(128))

_TAGS = "\U000e0000-\U000e007f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_MARKS = "\u200e\u200f\u061c"  # order letters beside them; needed among right-to-left letters
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # choose a character's form: ❤ or ❤️
_NEVER_SEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)
_ANY = re.compile(f"[{_TAGS}{_BIDI}{_MARKS}{_JOINERS}{_SELECTORS}{_NEVER_SEEN}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")

# What of the above belongs to the text. A joiner joins emoji, or letters of scripts that have
# letter forms to choose from; one selector follows a visible character; tags spell out a flag.
_PICTURE = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINING_SCRIPTS = (
    "\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\ua87f"
    "\ua8e0-\ua8ff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_CHARACTER_PART = (
    f"(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING_SCRIPTS}])[{_JOINERS}]"
    f"|(?<=[0-9#*{_PICTURE}])[\ufe0e\ufe0f]"
    f"|(?<=[\u1000-\u109f\u2200-\u2aff\u3001-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff00-\uff60"
    f"\U00020000-\U0003ffff])[{_SELECTORS}]"
    "|(?<=[\u1800-\u18af])[\u180b-\u180f]"
)
_NOTHING = "(?!)"
_FLAG_PART = "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"


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
            f"((?:(?!{belongs})[{characters}])++|\\Z)")

    def hidden_in(self, text: str) -> Hidden | None:
        """Return what a text hides of this sort."""
        found = islice(self._run.finditer(text), MOST_RUNS + 1)
        runs = [(run.start(1), run[1]) for run in found if run[1]]
        if not runs:
            return None
        counted = runs[:MOST_RUNS]
        says = "".join(run[:_LETTERS] for _, run in counted)[:_LETTERS]
        return Hidden(
            self._sort, sum(len(run) for _, run in counted), len(runs) > MOST_RUNS, runs[0][0],
            runs[0][1][0], says.translate(_TAG_LETTERS) if self._sort == "tag" else "")


_LETTERS = 2 * LONGEST_QUOTE  # more than are shown, as some are of no letter
_TAG_LETTERS = {0xE0000 + code: chr(code) if chr(code).isprintable() else None
                for code in range(128)}

_INVISIBLE = _Sorted("invisible", f"{_JOINERS}{_SELECTORS}{_NEVER_SEEN}", _CHARACTER_PART)
_BIDI_BUT_MARKS = _Sorted("bidi", _BIDI, _NOTHING)
_ALL_BIDI = _Sorted("bidi", f"{_BIDI}{_MARKS}", _NOTHING)
_TAG = _Sorted("tag", _TAGS, _FLAG_PART)

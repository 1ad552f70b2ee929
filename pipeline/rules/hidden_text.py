"""Characters that a reader of a text does not see: invisible ones, bidi controls and tags."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipeline.findings.wording import LONGEST_QUOTE

Sort: TypeAlias = Literal["invisible", "bidi", "tag"]

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
_BELONGS = re.compile(
    f"(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING_SCRIPTS}])[{_JOINERS}]"
    f"|(?<=[0-9#*{_PICTURE}])[\ufe0e\ufe0f]"
    f"|(?<=[\u1000-\u109f\u2200-\u2aff\u3001-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff00-\uff60"
    f"\U00020000-\U0003ffff])[{_SELECTORS}]"
    "|(?<=[\u1800-\u18af])[\u180b-\u180f]"
    "|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is hidden of one sort in one text."""

    sort: Sort
    count: int
    offset: int  # of the first, in characters
    character: str  # the first
    says: str  # what tags spell out, cut short; "" for other sorts


def hidden_in(text: str) -> tuple[Hidden, ...]:
    """Return what a text hides, one of each sort at most.

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
    found: dict[Sort, _Count] = {}
    end = 0
    for match in _ANY.finditer(text):
        offset, character = match.start(), match[0]
        if belonging := _BELONGS.match(text, offset):
            end = belonging.end()
        elif offset >= end and not (marks_are_needed and character in _MARKS):
            found.setdefault(_sort(character), _Count(offset, character)).add(character)
    return tuple(count.hidden(sort) for sort, count in found.items())


class _Count:
    """How often a sort was met, which may be a million times."""

    def __init__(self, offset: int, character: str) -> None:
        self._offset, self._first = offset, character
        self._count, self._letters = 0, ""

    def add(self, character: str) -> None:
        self._count += 1
        if len(self._letters) <= LONGEST_QUOTE:
            letter = chr(ord(character) & 0x7F)
            self._letters += letter if letter.isprintable() else ""

    def hidden(self, sort: Sort) -> Hidden:
        says = self._letters if sort == "tag" else ""
        return Hidden(sort, self._count, self._offset, self._first, says)


def _sort(character: str) -> Sort:
    if "\U000e0000" <= character <= "\U000e007f":
        return "tag"
    is_bidi = character in _MARKS or "\u202a" <= character <= "\u202e" or (
        "\u2066" <= character <= "\u2069")
    return "bidi" if is_bidi else "invisible"

"""Characters that a reader does not see, or that move others.

Sources: Unicode Standard Annex #9 (bidi controls), Technical Standards #39 and #51 (joiners,
selectors and tags in scripts and emoji).
"""

import re
import unicodedata
from collections.abc import Callable

# Classes for regular expressions, each a part of a character set.
TAGS = "\U000e0000-\U000e007f"
BIDI = "\u202a-\u202e\u2066-\u2069"
MARKS = "\u200e\u200f\u061c"  # order letters beside them; needed among right-to-left letters
JOINERS = "\u200c\u200d"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # choose a character's form: ❤ or ❤️
NEVER_SEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"

# Legitimate uses of these characters. A joiner joins emoji, or letters of scripts with alternative
# letter forms; one selector follows a visible character; tags spell a flag.
_PICTURE = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINING_SCRIPTS = (
    "\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\ua87f"
    "\ua8e0-\ua8ff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
CHARACTER_PART = (
    f"(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING_SCRIPTS}])[{JOINERS}]"
    f"|(?<=[0-9#*{_PICTURE}])[\ufe0e\ufe0f]"
    f"|(?<=[\u1000-\u109f\u2200-\u2aff\u3001-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff00-\uff60"
    f"\U00020000-\U0003ffff])[{SELECTORS}]"
    "|(?<=[\u1800-\u18af])[\u180b-\u180f]"
)
FLAG_PART = "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]"
)
_UNSEEN = f"{TAGS}{BIDI}{MARKS}{JOINERS}{NEVER_SEEN}{_CONTROLS}\u2800\U000e0100-\U000e01ef"
_MAYBE = re.compile(f"[{_UNSEEN}]")
_RUN = re.compile(f"((?:{FLAG_PART}|{CHARACTER_PART})+)|((?:(?!{CHARACTER_PART})[{_UNSEEN}])++)")


def is_invisible(character: str) -> bool:
    """Return whether a character is invisible, or blank or unknown on most screens.

    Whitespace other than a plain space counts; presentation selectors (U+FE0x) do not.
    """
    return not character.isprintable() or bool(_BLANK.match(character))


def all_visible(text: str) -> bool:
    """Return whether no character of a text is invisible."""
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))


def substituted(text: str, form: Callable[[str], str]) -> str:
    """Return a text with each run of invisible characters replaced by its form."""
    if (text.isascii() and text.isprintable()) or not _MAYBE.search(text):
        return text
    return _RUN.sub(lambda match: match[1] or form(match[2]), text)


def name(character: str) -> str:
    """Return the Unicode name of a character, or its code point where it has none."""
    return unicodedata.name(character, f"U+{ord(character):04X}").lower()

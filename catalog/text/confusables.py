"""Confusable names: letters of several scripts that look alike; pure.

Source: Unicode Technical Standard #39, of whose table this has what a name of a skill can hold
after it is normalised: the small letters of Greek, Cyrillic and Armenian that look like Latin
ones, small or capital, some Latin ones, and digits. That is 70 of 6,355 entries; the libraries
that carry the whole table know no skeletons of names, or were last released years ago.
"""

import re
import unicodedata

_LIKE_LATIN = {
    "a": "аαɑ",
    "b": "вьβ",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еεҽ",
    "f": "ϝ",
    "g": "ɡցԍ",
    "h": "һհн",
    "i": "іιıɩ",
    "j": "јϳյ",
    "k": "кκĸ",
    "l": "ӏ1ǀⵏ",
    "m": "мϻ",
    "n": "ηոп",
    "o": "оοօσ0",
    "p": "рρ",
    "q": "ԛզ",
    "r": "гꭇ",
    "s": "ѕꜱ",
    "t": "тτ",
    "u": "υսμ",
    "v": "ѵνᴠ",
    "w": "ԝωա",
    "x": "хχ",
    "y": "уγʏү",
    "z": "ζᴢ",
    "3": "зɜ",
}
_SKELETON = str.maketrans({like: latin for latin, alike in _LIKE_LATIN.items() for like in alike})
_SCRIPT = re.compile(r"(LATIN|GREEK|CYRILLIC|ARMENIAN) ")


def skeleton(skill_id: str) -> str:
    """Return what all skill_ids have in common that look like this one."""
    # Among Latin letters alone it is rn that passes for m.
    return skill_id.translate(_SKELETON).replace("rn", "m")


def lookalike_letter(skill_id: str) -> str | None:
    """Return the first letter that is not the one it looks like, digits aside."""
    return next((char for char in skill_id if ord(char) in _SKELETON and not char.isascii()), None)


def mixed_word(skill_id: str) -> str | None:
    """Return the first word whose letters are of several scripts that look alike, if there is one.

    Words end at hyphens; scripts that nobody takes for Latin, such as Chinese, may stand beside it.
    """
    if skill_id.isascii():
        return None
    for word in skill_id.split("-"):
        scripts = {
            found[1] for letter in word if (found := _SCRIPT.match(unicodedata.name(letter, "")))
        }
        if len(scripts) > 1:
            return word
    return None

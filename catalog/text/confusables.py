"""Confusable names: letters of several scripts that look alike.

Source: Unicode Technical Standard #39. This is the part of its table that a normalised skill name
can contain: small Greek, Cyrillic and Armenian letters that look like Latin ones, small or
capital, some Latin letters, and digits. That is 70 of 6,355 entries; libraries with the whole
table compute no skeletons of names, or had their last release years ago.
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
    """Return the skeleton of a skill_id, which is the same for all that look like it."""
    # Among Latin letters, rn looks like m.
    return skill_id.translate(_SKELETON).replace("rn", "m")


def lookalike_letter(skill_id: str) -> str | None:
    """Return the first non-ASCII letter that looks like an ASCII one."""
    return next((char for char in skill_id if ord(char) in _SKELETON and not char.isascii()), None)


def mixed_word(skill_id: str) -> str | None:
    """Return the first word that mixes scripts that look alike, or None.

    Words end at hyphens. Scripts unlike Latin, such as Chinese, may be mixed with it.
    """
    if skill_id.isascii():
        return None
    for word in skill_id.split("-"):
        scripts = {
            match[1] for letter in word if (match := _SCRIPT.match(unicodedata.name(letter, "")))
        }
        if len(scripts) > 1:
            return word
    return None

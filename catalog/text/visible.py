"""Untrusted text for people and prompts: made plain and visible, stripped, or quoted."""

import html
import re
import unicodedata
from collections.abc import Callable, Mapping

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

_ASCII = bytes(range(128))
_SEEN_ASCII = b"\t\n" + bytes(range(32, 127))

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
# Accents of Latin, Greek and Cyrillic, and signs of Thai: no word has four on a letter.
_ACCENT = (
    "[\u0300-\u036f\u0483-\u0489\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_MAYBE = re.compile(f"[{_UNSEEN}]|{_ACCENT}{{4}}")
_RUN = re.compile(
    f"((?:{FLAG_PART}|{CHARACTER_PART})+)"
    f"|((?:(?!{CHARACTER_PART})[{_UNSEEN}])++|(?<={_ACCENT}{{3}}){_ACCENT}++)"
)


def beyond_ascii(text: str) -> str:
    """Return the characters of a text that are not ASCII, for a search for rare ones among them.

    Nearly every text has a dash or an arrow. Without its ASCII bytes, UTF-8 is still UTF-8.
    """
    return text.encode("utf-8", "replace").translate(None, _ASCII).decode()


def with_plain_line_ends(text: str) -> str:
    """Return a text with CRLF and lone CR replaced by LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_invisible(character: str) -> bool:
    """Return whether a character is invisible, or blank or unknown on most screens.

    Whitespace other than a plain space counts; presentation selectors (U+FE0x) do not.
    """
    return not character.isprintable() or bool(_BLANK.match(character))


def all_visible(text: str) -> bool:
    """Return whether no character of a text is invisible."""
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))


def substituted(text: str, form: Callable[[str], str]) -> str:
    """Return a text with each run of invisible characters replaced by its form.

    Accents after the third on a letter count as such: a stack of them covers the lines above.
    """
    if text.isascii() and text.isprintable():
        return text
    others = text.encode("utf-8", "surrogatepass").translate(None, _SEEN_ASCII)
    if not _MAYBE.search(others.decode("utf-8", "surrogatepass")):
        return text
    return _RUN.sub(lambda match: match[1] or form(match[2]), text)


def character_name(character: str) -> str:
    """Return the Unicode name of a character, or its code point where it has none."""
    return unicodedata.name(character, f"U+{ord(character):04X}").lower()


def visible(text: str) -> str:
    """Return a text with a code such as `[U+202E]` for each invisible character.

    Those are control, bidi, tag and similar characters, including line ends. The result is one
    line without control sequences for a terminal.
    """
    if all_visible(text):
        return text
    return "".join(code_of(char) if is_invisible(char) else char for char in text)


def visible_lines(text: str) -> str:
    """Return `visible` of each line of a text; line ends and tabs stay."""
    return "\n".join(
        "\t".join(map(visible, line.removesuffix("\r").split("\t")))
        for line in text.removesuffix("\n").split("\n")
    )


def visible_prose(text: str) -> str:
    """Return a text for a page, on which the invisible parts of emoji and letters stay.

    Those are joiners, selectors and tags after a character that can have one.
    """
    return substituted(text, lambda run: "".join(map(code_of, run)))


def code_of(character: str) -> str:
    """Return the code that replaces an invisible character."""
    return f"[U+{ord(character):04X}]"


LONGEST_QUOTE = 80
"""Characters of a value in a message, at most."""


def quoted(text: str) -> str:
    """Return a text in quotation marks, truncated and visible."""
    return f"“{printable(text)}”"


def printable(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Return a text visible and on one line; a longer one is truncated, with `…`."""
    return visible(text if len(text) <= longest else f"{text[:longest]}…")


def kind_of(value: object) -> str:
    """Return the kind of a frontmatter value, with its article."""
    if isinstance(value, str):
        return "text"
    return "a map" if isinstance(value, Mapping) else "a list"


def one_line(text: str) -> str:
    """Return a text without control, bidi or invisible characters, its whitespace collapsed.

    The result cannot start a new line or hide words from a reader.
    """
    if not all_visible(text):
        text = "".join(
            " " if c.isspace() else c for c in text if c.isspace() or not is_invisible(c)
        )
    return " ".join(text.split())


def in_xml(text: str) -> str:
    """Return one line to put between two tags, which it cannot close."""
    return html.escape(one_line(text), quote=False)


def in_attribute(text: str) -> str:
    """Return one line to put in double quotes, which it cannot end."""
    return in_xml(text).replace('"', "&quot;")


def in_markdown(text: str) -> str:
    """Return one line of Markdown that shows the text as it is: no emphasis, links or HTML."""
    return _MARKS.sub(r"\\\g<0>", html.escape(one_line(text), quote=False).replace("&gt;", ">"))


def in_code(text: str) -> str:
    """Return one line as a code span of Markdown, even with backticks in it."""
    line = one_line(text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[:1], line[-1:]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


_MARKS = re.compile(r"[\\`*_\[\]]")
_BACKTICKS = re.compile(r"`+")

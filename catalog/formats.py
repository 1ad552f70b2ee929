"""The forms a prompt index can have; each turns skills into text that cannot break out of it."""

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Listed(Protocol):
    """What a format says of one skill."""

    @property
    def name(self) -> str:
        """The qualified name."""

    @property
    def description(self) -> str:
        """The description, in full or as it was shortened."""

    @property
    def location(self) -> str:
        """The path or URL of its SKILL.md."""


@dataclass(frozen=True, slots=True)
class Format:
    """One form: what stands around the entries, and how an entry reads."""

    header: str
    footer: str
    entry: Callable[[Listed], str]
    ending: str  # of the published file


def one_line(text: str) -> str:
    """Return the text without control, bidi or invisible characters, its whitespace collapsed.

    What is left cannot start a new line or hide words from a person who reads along.
    """
    if not text.isascii() or not text.isprintable():
        text = "".join(" " if c.isspace() else c for c in text if c.isspace() or _is_visible(c))
    return _SPACES.sub(" ", text).strip()


_SPACES = re.compile(r"\s+")
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION_SELECTORS = frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xE0100, 0xE01F0))))


def _is_visible(char: str) -> bool:
    """Tell whether a reader sees it; emoji presentation selectors (U+FE0x) may stay."""
    return (
        unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
        and char not in _INVISIBLE_LETTERS
        and char not in _VARIATION_SELECTORS
    )


def _xml_entry(skill: Listed) -> str:
    return (
        f"<skill>\n<name>{_xml(skill.name)}</name>\n"
        f"<description>{_xml(skill.description)}</description>\n"
        f"<location>{_xml(skill.location)}</location>\n</skill>\n"
    )


def _xml(text: str) -> str:
    return html.escape(one_line(text), quote=False)


FORMATS: dict[str, Format] = {
    "xml": Format("<available_skills>\n", "</available_skills>\n", _xml_entry, ".xml"),
}

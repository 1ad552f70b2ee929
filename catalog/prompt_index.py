"""Ranked skills and a budget in, the text of a prompt index and a report of its cuts out."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog.formats import FORMATS
from catalog.record import Level

DEFAULT_BUDGET_CHARS = 16_000

State: TypeAlias = Literal["full", "shortened", "name_only"]
Overflow: TypeAlias = Literal["fit", "exclude"]


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """One configured index. An empty filter lets every skill in."""

    name: str = "default"
    format: str = "xml"
    budget_chars: int = DEFAULT_BUDGET_CHARS  # bounds the whole text, header and footer included
    overflow: Overflow = "exclude"
    language: str = "en"
    levels: tuple[Level, ...] = ()
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    featured: tuple[str, ...] = ()
    location_base: str | None = None

    @property
    def file_name(self) -> str:
        """The name of the published file."""
        return self.name + FORMATS[self.format].ending


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill that may enter an index."""

    skill: int  # its row in the catalog
    name: str
    description: str
    location: str  # of its SKILL.md: a path or a URL


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill that is in, and how much of it."""

    skill: int
    state: State
    chars: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PromptIndex:
    """A finished text with its report. With no skills the text is empty."""

    text: str
    entries: tuple[Entry, ...]

    @property
    def sha256(self) -> str:
        """64 hex digits of the text in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def count(self, state: State) -> int:
        """Return how many skills are in with that state."""
        return sum(entry.state == state for entry in self.entries)


def build(spec: IndexSpec, ranked: Iterable[Candidate]) -> PromptIndex:
    """Return the index of candidates in their order: whole entries until the budget is spent.

    The first entry that does not fit ends it, so no skill ever overtakes one ranked above it.
    """
    form = FORMATS[spec.format]
    left = spec.budget_chars - len(form.header) - len(form.footer)
    entries: list[Entry] = []
    texts: list[str] = []
    for candidate in ranked:
        text = form.entry(candidate)
        if len(text) > left:
            break
        left -= len(text)
        texts.append(text)
        entries.append(Entry(candidate.skill, "full", len(text)))
    if not texts:
        return PromptIndex("", ())
    return PromptIndex(form.header + "".join(texts) + form.footer, tuple(entries))


def most_entries(spec: IndexSpec) -> int:
    """Return how many entries could fit at the very most, so that no more need be ranked."""
    shortest = len(FORMATS[spec.format].entry(Candidate(0, "a", "a", "")))
    return spec.budget_chars // shortest + 1

"""Ranked skills and a budget in, the text of a prompt index and a report of its cuts out."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from catalog.model.values import Json, Level
from catalog.prompt_index import budget, locations
from catalog.prompt_index.budget import Part, State
from catalog.prompt_index.formats import FORMATS, Form, FormatOptions
from catalog.prompt_index.messages import Language
from catalog.text import tokens

DEFAULT_BUDGET_CHARS = 16_000

NAMED_LEFT_OUT = 100
"""How many of the skills that an index has no room for its report names."""

Overflow: TypeAlias = Literal["fit", "exclude"]
Locations: TypeAlias = Literal["current", "version"]


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """One configured index. An empty filter lets every skill in."""

    name: str = "default"
    format: str = "xml"
    budget_chars: int = DEFAULT_BUDGET_CHARS  # bounds the whole text, header and footer included
    overflow: Overflow = "fit"
    language: Language = "en"
    levels: tuple[Level, ...] = ()
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    featured: tuple[str, ...] = ()
    location_base: str | None = None  # None: the packages folder
    instruction: str | None = None  # None: the format's own
    how_to_search: str | None = None  # None: our own
    locations: Locations = "current"  # whether they name a version

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
    skill_id: str = ""
    follows_pattern: bool = False
    package_path: str | None = None  # where the index names versions: `<skill_id>/<version>`
    user_invocable: bool = True
    files: tuple[str, ...] = ()  # scripts, references and templates
    skill_md_hash: str = ""

    @property
    def version(self) -> str | None:
        """The version that its location names; None where it follows the present one."""
        return self.package_path.rpartition("/")[2] if self.package_path else None


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill that is in, and how much of it."""

    skill: int
    state: State
    chars: int
    reason: str | None = None  # why it is not in full
    package_path: str | None = None  # that the text names, so that it is kept
    name: str = field(default="", compare=False)
    description: str = field(default="", compare=False)  # as the text shows it


@dataclass(frozen=True, slots=True)
class PromptIndex:
    """A finished text with its report. With no skills the text is empty."""

    text: str
    entries: tuple[Entry, ...]
    left_out: int = 0  # for lack of room
    left_out_names: tuple[str, ...] = ()  # the first of them, most important first

    @property
    def sha256(self) -> str:
        """64 hex digits of the text in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def count(self, state: State) -> int:
        """Return how many skills are in with that state."""
        return sum(entry.state == state for entry in self.entries)


def build(
    spec: IndexSpec,
    ranked: Iterable[Candidate],
    total: int | None = None,
    packages: str | None = None,
) -> PromptIndex:
    """Return the index of candidates in their order.

    total is how many there are; `ranked` is drawn from only as far as the budget reaches.
    packages is the folder that holds the published packages, if there is one.
    """
    queue = budget.Queue(ranked)
    form = form_of(spec, packages)
    if total is None:
        total = queue.length()
    plan = budget.exclude if spec.overflow == "exclude" else budget.fit
    text, parts = plan(form, queue, total, spec.budget_chars)
    left_out = total - len(parts)
    return PromptIndex(
        text,
        tuple(_entry(candidate, part) for candidate, part in zip(queue.drawn, parts, strict=False)),
        left_out,
        tuple(c.name for c in queue.after(len(parts), min(left_out, NAMED_LEFT_OUT))),
    )


def report(spec: IndexSpec, index: PromptIndex) -> dict[str, Json]:
    """Return what there is to say of an index beside its text: its size, counts and cuts."""
    return {
        "name": spec.name,
        "format": spec.format,
        "sha256": index.sha256,
        "chars": len(index.text),
        "estimated_tokens": tokens.estimate(index.text),
        "budget_chars": spec.budget_chars,
        "full": index.count("full"),
        "shortened": index.count("shortened"),
        "name_only": index.count("name_only"),
        "left_out": index.left_out,
        "left_out_names": index.left_out_names,
    }


def form_of(spec: IndexSpec, packages: str | None = None) -> Form:
    """Return the form that an index is written in, with its words around the entries."""
    where = locations.pattern(
        spec.location_base or packages, of_versions=spec.locations == "version"
    )
    return FORMATS[spec.format].form(
        FormatOptions(spec.language, spec.instruction, spec.how_to_search, where)
    )


def _entry(candidate: Candidate, part: Part) -> Entry:
    return Entry(
        candidate.skill,
        part.state,
        len(part.text),
        part.reason,
        candidate.package_path,
        candidate.name,
        part.description,
    )

"""Text of a prompt index, and the report of its cuts, from ranked skills and a budget."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.selection import Selection
from catalog.model.setting import STRICT, Levels, Words
from catalog.model.values import Json
from catalog.prompt_index import budget, locations
from catalog.prompt_index.budget import ItemText, State
from catalog.prompt_index.formats.form import FileGroup, Form, FormatOptions
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.locations import NOWHERE, Bases
from catalog.prompt_index.measures import UNBOUNDED, USUAL_FACTORS, Bounds, Budget, RoomFactors
from catalog.prompt_index.messages import Language
from catalog.text import tokens

DEFAULT_BUDGET_CHARS = 16_000

NAMED_LEFT_OUT = 100
"""Skills that did not fit, whose names the report of an index lists, at most."""

INDEX_SHARE = 2
"""Percent of a context window that an index may take."""

Overflow: TypeAlias = Literal["fit", "exclude"]
Locations: TypeAlias = Literal["current", "version"]


def _ascending(bounds: tuple[int, int]) -> tuple[int, int]:
    if bounds[0] > bounds[1]:
        raise ValueError("the least is above the most")
    return bounds


Range: TypeAlias = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(gt=0)]], AfterValidator(_ascending)
]


@settings_table(frozen=True, slots=True, config=STRICT)
class IndexSpec:
    """Settings of one index: a table `[[indexes]]`. An empty filter admits every skill."""

    name: str = Field(
        default="default",
        pattern=r"\A[A-Za-z0-9_-]+\z",
        description="a name of letters A-Z or a-z, digits, hyphens and underscores",
    )
    format: Literal[tuple(FORMATS)] = Field(  # type: ignore[valid-type]  # computed
        default="lines", description=f"one of {', '.join(FORMATS)}"
    )
    budget_chars: int | None = Field(
        default=None, gt=0, description="a whole number of characters above 0"
    )
    budget_tokens: int | None = Field(
        default=None, gt=0, description="a whole number of tokens above 0"
    )
    context_window_tokens: int | None = Field(
        default=None, gt=0, description="a whole number of tokens above 0"
    )
    levels: Levels = ()
    tags: Words = ()
    names: Words = ()
    featured: Words = ()
    overflow: Overflow = Field(default="fit", description="one of fit, exclude")
    language: Language = Field(default="en", description="one of en, zh")
    location_base: Annotated[str | None, AfterValidator(lambda base: base or None)] = Field(
        default=None, description="a path or a URL"
    )  # None: the folder beside the catalog
    locations: Locations = Field(default="current", description="one of current, version")
    instruction: str | None = Field(default=None, description="a text; an empty one for none")
    how_to_search: str | None = Field(default=None, description="a text; an empty one for none")
    per_skill_chars: Range | None = Field(default=None, description="the least and most characters")
    per_skill_tokens: Range | None = Field(default=None, description="the least and most tokens")
    room_factors: RoomFactors = Field(
        default=USUAL_FACTORS,
        description=f"a table of factors above 0, of {', '.join(RoomFactors._fields)}",
    )

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        for keys in (
            ("budget_chars", "budget_tokens", "context_window_tokens"),
            ("per_skill_chars", "per_skill_tokens"),
        ):
            given = [key for key in keys if getattr(self, key) is not None]
            if len(given) > 1:
                raise ValueError(f"has {' and '.join(given)}; keep only one of them")
        return self

    @property
    def budget(self) -> Budget:
        """Largest size of the whole text, with header and footer."""
        if self.context_window_tokens is not None:
            return Budget(max(1, self.context_window_tokens * INDEX_SHARE // 100), "tokens")
        if self.budget_tokens is not None:
            return Budget(self.budget_tokens, "tokens")
        return Budget(self.budget_chars or DEFAULT_BUDGET_CHARS)

    @property
    def per_skill(self) -> Bounds | None:
        """Sizes of one skill; None for those of the format."""
        if self.per_skill_chars:
            return Bounds(*self.per_skill_chars, "chars")
        return Bounds(*self.per_skill_tokens) if self.per_skill_tokens else None

    @property
    def selection(self) -> Selection:
        """Its filter of skills."""
        return Selection(self.levels, self.tags, self.names)

    @property
    def names_packages(self) -> bool:
        """Whether its locations are in the packages folder."""
        return self.locations == "version" or FORMATS[self.format].names_packages

    @property
    def file_name(self) -> str:
        """Name of the published file."""
        return self.name + FORMATS[self.format].ending


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Skill that may enter an index; it is equal only to itself, which makes a fast key."""

    skill: int  # its row in the catalog
    name: str
    description: str
    location: str  # of its SKILL.md: a path or a URL
    skill_id: str = ""
    follows_pattern: bool = False
    package_path: str | None = None  # where the index names versions: `<skill_id>/<version>`
    user_invocable: bool = True
    files: tuple[FileGroup, ...] = ()
    skill_md_hash: str = ""
    fallback: str | None = None  # shown if the description says nothing
    is_featured: bool = False
    factor: float = 1.0  # its room, as a multiple of the usual one

    @property
    def version(self) -> str | None:
        """Version that its location names; None where it follows `current`."""
        return self.package_path.rpartition("/")[2] if self.package_path else None


@dataclass(frozen=True, slots=True)
class Entry:
    """Skill in an index, and how much of it is shown."""

    skill: int
    state: State
    chars: int
    reason: str | None = None  # for a state other than full
    package_path: str | None = None  # in the text, so the package is kept
    shown: str = ""  # what the text shows of its description
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class PromptIndex:
    """Finished text with its report; the text is empty if there are no skills."""

    text: str
    entries: tuple[Entry, ...]
    left_out: int = 0  # for lack of room
    left_out_names: tuple[str, ...] = ()  # the first of them, most important first

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def count(self, state: State) -> int:
        """Return the number of skills in that state."""
        return sum(entry.state == state for entry in self.entries)


def build(
    spec: IndexSpec,
    ranked: Iterable[Candidate],
    total: int | None = None,
    bases: Bases = NOWHERE,
) -> PromptIndex:
    """Return the index of candidates, which are in their order.

    total is their number; `ranked` is consumed only as far as the budget reaches. bases are
    the folders of published skills, if there are any.
    """
    queue = budget.Queue(ranked)
    form = form_of(spec, bases)
    if total is None:
        total = queue.length()
    is_whole = spec.overflow == "exclude"
    per_skill = UNBOUNDED if is_whole else spec.per_skill or FORMATS[spec.format].per_skill
    allocation = budget.Allocation(form, queue, total, spec.budget, per_skill)
    text, items = allocation.exclude() if is_whole else allocation.fit()
    left_out = total - len(items)
    return PromptIndex(
        text,
        tuple(_entry(candidate, item) for candidate, item in zip(queue.drawn, items, strict=False)),
        left_out,
        tuple(c.name for c in queue.slice(len(items), min(left_out, NAMED_LEFT_OUT))),
    )


def report(spec: IndexSpec, index: PromptIndex) -> dict[str, Json]:
    """Return the report of an index: its size, counts and cuts."""
    return {
        "name": spec.name,
        "format": spec.format,
        "sha256": index.sha256,
        "chars": len(index.text),
        "estimated_tokens": tokens.estimate(index.text),
        f"budget_{spec.budget.unit}": spec.budget.size,
        "full": index.count("full"),
        "shortened": index.count("shortened"),
        "name_only": index.count("name_only"),
        "left_out": index.left_out,
        "left_out_names": index.left_out_names,
    }


def form_of(spec: IndexSpec, bases: Bases = NOWHERE) -> Form:
    """Return the form of an index, with the text around its entries."""
    base = spec.location_base
    options = FormatOptions(
        spec.language,
        spec.instruction,
        spec.how_to_search,
        locations.pattern(
            base,
            bases,
            of_versions=spec.locations == "version",
            in_packages=spec.names_packages,
        ),
        locations.search_on_site(base),
    )
    return FORMATS[spec.format].form(options)


def _entry(candidate: Candidate, item: ItemText) -> Entry:
    return Entry(
        candidate.skill,
        item.state,
        len(item.text),
        item.reason,
        candidate.package_path,
        item.shown,
        candidate.name,
    )

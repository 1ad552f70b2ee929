"""Settings of prompt indexes."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from catalog.model.values import LEVELS, Level
from catalog.prompt_index.builder import DEFAULT_BUDGET_CHARS, IndexSpec, Locations, Overflow
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.measures import Bounds, RoomFactors
from pipeline.config.table import Table

INDEX_SHARE = 2
"""Percent of a context window that an index may take."""


def _ascending(bounds: tuple[int, int]) -> tuple[int, int]:
    if bounds[0] > bounds[1]:
        raise ValueError("the least is above the most")
    return bounds


Range: TypeAlias = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(gt=0)]], AfterValidator(_ascending)
]
Ranked: TypeAlias = Literal[RoomFactors._fields]  # type: ignore[valid-type]  # computed
Words: TypeAlias = Annotated[tuple[str, ...], Field(description="a list of texts")]


class IndexSettings(Table):
    """Settings of one `[[indexes]]` table: a prompt index to publish."""

    name: Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9_-]+\z")] = Field(
        "default", description="a name of letters A-Z or a-z, digits, hyphens and underscores"
    )
    format: Literal[tuple(FORMATS)] = Field(  # type: ignore[valid-type]  # computed
        IndexSpec().format, description=f"one of {', '.join(FORMATS)}"
    )
    budget_chars: int | None = Field(None, gt=0, description="a whole number of characters above 0")
    budget_tokens: int | None = Field(None, gt=0, description="a whole number of tokens above 0")
    context_window_tokens: int | None = Field(
        None, gt=0, description="a whole number of tokens above 0"
    )
    levels: tuple[Level, ...] = Field((), description=f"a list of levels: {', '.join(LEVELS)}")
    tags: Words = ()
    names: Words = ()
    featured: Words = ()
    overflow: Overflow = Field(IndexSpec().overflow, description="one of fit, exclude")
    language: Literal["en", "zh"] = Field("en", description="one of en, zh")
    location_base: str | None = Field(None, description="a path or a URL")
    locations: Locations = Field("current", description="one of current, version")
    instruction: str | None = Field(None, description="a text; an empty one for none")
    how_to_search: str | None = Field(None, description="a text; an empty one for none")
    per_skill_chars: Range | None = Field(None, description="the least and most characters")
    per_skill_tokens: Range | None = Field(None, description="the least and most tokens")
    room_factors: dict[Ranked, Annotated[float, Field(gt=0)]] = Field(
        {}, description=f"a table of factors above 0, of {', '.join(RoomFactors._fields)}"
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
    def _budget_tokens(self) -> int | None:
        if self.context_window_tokens is None:
            return self.budget_tokens
        return max(1, self.context_window_tokens * INDEX_SHARE // 100)

    @property
    def _per_skill(self) -> Bounds | None:
        if self.per_skill_chars:
            return Bounds(*self.per_skill_chars, "chars")
        return Bounds(*self.per_skill_tokens) if self.per_skill_tokens else None

    @property
    def spec(self) -> IndexSpec:
        """Settings as the catalog's IndexSpec."""
        return IndexSpec(
            name=self.name,
            format=self.format,
            budget_chars=self.budget_chars or DEFAULT_BUDGET_CHARS,
            budget_tokens=self._budget_tokens,
            levels=self.levels,
            tags=self.tags,
            names=self.names,
            featured=self.featured,
            overflow=self.overflow,
            language=self.language,
            location_base=self.location_base or None,
            locations=self.locations,
            instruction=self.instruction,
            how_to_search=self.how_to_search,
            per_skill=self._per_skill,
            room_factors=RoomFactors(**self.room_factors),
        )

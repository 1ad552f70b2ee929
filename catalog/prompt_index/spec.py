"""Settings of a prompt index: a table `[[indexes]]`."""

from typing import Annotated, Literal, NamedTuple, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.setting import STRICT, Levels, Selection, Words
from catalog.prompt_index.formats.form import Language
from catalog.prompt_index.formats.registry import FORMATS
from catalog.text import tokens

DEFAULT_BUDGET_CHARS = 16_000

INDEX_SHARE = 2
"""Percent of a context window that an index may take."""

Overflow: TypeAlias = Literal["fit", "exclude"]


class Budget(NamedTuple):
    """Largest size of a whole index."""

    size: int
    unit: Literal["chars", "tokens"] = "chars"

    def size_of(self, text: str) -> float:
        """Return the size of a text; that of several texts is at most the sum of theirs."""
        return tokens.weight(text) / tokens.HUNDREDTHS if self.unit == "tokens" else len(text)


@settings_table(frozen=True, slots=True, config=STRICT)
class IndexSpec:
    """Settings of one index. An empty filter admits every skill."""

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

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        keys = ("budget_chars", "budget_tokens", "context_window_tokens")
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
    def selection(self) -> Selection:
        """Its filter of skills."""
        return Selection(self.levels, self.tags, self.names)

    @property
    def names_packages(self) -> bool:
        """Whether its locations are in the packages folder."""
        return FORMATS[self.format].names_packages

    @property
    def file_name(self) -> str:
        """Name of the published file."""
        return self.name + FORMATS[self.format].ending

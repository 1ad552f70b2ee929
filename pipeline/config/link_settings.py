"""Settings of directories of links to skills, or of copies of them."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, ValidationError, model_validator

from catalog.model.selection import LinkedDirectory, Selection
from catalog.model.values import LEVELS, Json, Level
from pipeline.config.directories import Directory
from pipeline.config.index_settings import Words
from pipeline.config.table import Table


class LinkSettings(Table):
    """Settings of one `[[links]]` table: a directory with each selected skill."""

    path: Directory
    index: str | None = Field(None, description="the name of an index")
    levels: tuple[Level, ...] = Field((), description=f"a list of levels: {', '.join(LEVELS)}")
    tags: Words = ()
    names: Words = ()
    copies: bool = Field(False, alias="copy", description="true or false")

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.index is not None and (self.levels or self.tags or self.names):
            raise ValueError(
                "has index and a filter of its own; keep index, or levels, tags and names"
            )
        return self

    @classmethod
    def of(cls, values: Mapping[str, Json]) -> Self:
        """Return the settings with these values. Raises ValueError with one sentence."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ValueError(f"{values['path']} cannot have links: {reason}") from None

    @property
    def spec(self) -> LinkedDirectory:
        """The directory with its filter, as the catalog has it."""
        return LinkedDirectory(
            str(self.path), Selection(self.levels, self.tags, self.names), self.index, self.copies
        )

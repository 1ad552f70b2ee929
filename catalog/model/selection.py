"""Selection of skills, and the directories with a link to each selected one, or a copy of it."""

from typing import NamedTuple, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.setting import STRICT, Levels, Words
from catalog.model.values import Level


class Selection(NamedTuple):
    """Filter of skills; an empty field admits every skill."""

    levels: tuple[Level, ...] = ()
    tags: tuple[str, ...] = ()  # one of them is enough
    names: tuple[str, ...] = ()


EVERY = Selection()


@settings_table(frozen=True, slots=True, config=STRICT)
class LinkedDirectory:
    """Directory of links to skills, or of copies of them: a table `[[links]]`."""

    path: str = Field(description="the path of a directory")  # absolute, without links in it
    index: str | None = Field(default=None, description="the name of an index")
    levels: Levels = ()
    tags: Words = ()
    names: Words = ()
    copy: bool = Field(default=False, description="true or false")  # plain folders instead of links

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.index is not None and (self.levels or self.tags or self.names):
            raise ValueError(
                "has index and a filter of its own; keep index, or levels, tags and names"
            )
        return self

    @property
    def selection(self) -> Selection:
        """Its own filter; that of an index counts instead."""
        return Selection(self.levels, self.tags, self.names)

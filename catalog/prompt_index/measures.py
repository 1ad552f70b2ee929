"""Sizes of texts in an index, in characters or estimated tokens."""

from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from catalog.model.values import Level
from catalog.text import tokens

Unit: TypeAlias = Literal["chars", "tokens"]


def size(text: str, unit: Unit) -> float:
    """Return the size of a text; that of several texts is at most the sum of theirs."""
    return tokens.weight(text) / tokens.HUNDREDTHS if unit == "tokens" else len(text)


class Budget(NamedTuple):
    """Largest size of a whole index."""

    size: int
    unit: Unit = "chars"


class Bounds(NamedTuple):
    """Sizes of one skill in an index: it is shortened to the most, but not below the least."""

    least: int = 0
    most: int | None = None
    unit: Unit = "tokens"


UNBOUNDED = Bounds()


Factor: TypeAlias = Annotated[float, Field(gt=0)]


class RoomFactors(NamedTuple):
    """Room of a description as a multiple of the usual one, for featured skills and each level."""

    featured: Factor = 2.0
    enterprise: Factor = 1.5
    personal: Factor = 1.25
    project: Factor = 1.0
    plugin: Factor = 1.0

    def of(self, level: Level, *, is_featured: bool) -> float:
        """Return the factor of a skill."""
        return float(self.featured if is_featured else getattr(self, level))


USUAL_FACTORS = RoomFactors()

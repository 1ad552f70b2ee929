"""A dialect: the fields that one system reads from SKILL.md, and all that follows from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

from catalog.model.finding import FindingType
from catalog.model.values import Json
from pipeline.validation.conversion import NO_OLDER_LAYOUTS, Conversion
from pipeline.validation.fields.types import F
from pipeline.validation.profile import Profile


def _as_written(frontmatter: Mapping[str, Json], quoted: frozenset[str]) -> Mapping[str, Json]:
    return frontmatter


def _none(_: Any) -> None:
    return None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dialect(Generic[F]):
    """Fields that one system defines, its profile, and what the catalog is told of them.

    The fields are read beside the common ones, which are `Declared`.
    """

    owner: str  # the system, as messages name it: "ApexBridge"
    profile: Profile  # whose name is the dialect's, too
    model: type[F]  # of the fields whose values are read
    fields: frozenset[str]  # the names of all fields that it defines
    misfits: FindingType | None = None  # of the findings in which its rules report misfits
    values: Callable[[Mapping[str, Json], frozenset[str]], Mapping[str, Json]] = _as_written
    """The frontmatter as the system reads it, given that and the paths of quoted values."""
    record: Callable[[F], object | None] = _none
    """What is declared for the system alone, as its rows in the catalog take it, if anything."""
    priority: Callable[[F], float | None] = _none
    """The declared priority, from 0 to 1, higher first."""
    conversion: Conversion = NO_OLDER_LAYOUTS


Dialects: TypeAlias = tuple[Dialect[Any], ...]

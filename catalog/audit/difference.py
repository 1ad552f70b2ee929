"""A difference between two things that should agree."""

from typing import Literal, NamedTuple, TypeAlias

DifferenceKind: TypeAlias = Literal["folder", "catalog", "package", "index"]


class Difference(NamedTuple):
    """One thing that is not as it should be."""

    kind: DifferenceKind  # which of the four is behind
    where: str
    what: str

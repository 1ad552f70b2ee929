"""Precedence among skills of one skill_id."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from catalog.model.naming import bare_name, is_slug
from catalog.model.paths import last_name
from catalog.model.values import LEVELS


class Precedence(NamedTuple):
    """Sort key of skills that share a skill_id; the smallest wins."""

    level_rank: int
    is_not_preferred: bool  # by `skilldrop prefer`
    root_position: int
    is_alias: bool  # reached through a link; its target comes first
    is_other_spelling: bool  # `PDF-Tools` gives way to `pdf-tools`
    name_since: str  # the time when it took the name: the incumbent keeps it
    is_other_folder: bool  # its folder has another name
    is_invalid: bool  # by the specification
    depth: int
    path: str  # compared by code point


def precedence(row: Mapping[str, Any]) -> Precedence:
    """Return the precedence of a skill.

    The row has the columns of `skills` and the position of the root.
    """
    path = row["path"]
    name = bare_name(row["name"], row["namespace"])
    return Precedence(
        level_rank=LEVELS.index(row["level"]),
        is_not_preferred=row["preferred_at"] is None,
        root_position=row["position"],
        is_alias=bool(row["is_alias"]),
        is_other_spelling=not is_slug(name),
        name_since=row["name_since"] or "",
        is_other_folder=last_name(path) != name,
        is_invalid=not row["spec_valid"],
        depth=path.count("/"),
        path=path,
    )


def advantage(winner: Precedence, other: Precedence) -> str:
    """Return why a skill comes before another one of its level in a few words, else ""."""
    return next(
        _ADVANTAGES.get(field, "")
        for field, one, two in zip(Precedence._fields, winner, other, strict=True)
        if one != two
    )


_ADVANTAGES = {
    "is_not_preferred": "preferred by `skilldrop prefer`",
    "root_position": "in an earlier root",
    "is_alias": "not behind a link",
    "is_other_spelling": "with exactly this name",
    "name_since": "accepted first",
    "is_other_folder": "in a folder of this name",
    "is_invalid": "valid by the specification",
    "depth": "less deep in the root",
    "path": "first by path",
}

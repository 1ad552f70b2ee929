"""Selection of skills, and the directories with a link to each selected one, or a copy of it."""

from dataclasses import dataclass
from typing import NamedTuple

from catalog.model.values import Level


class Selection(NamedTuple):
    """Filter of skills; an empty field admits every skill."""

    levels: tuple[Level, ...] = ()
    tags: tuple[str, ...] = ()  # one of them is enough
    names: tuple[str, ...] = ()


EVERY = Selection()


@dataclass(frozen=True, slots=True)
class LinkedDirectory:
    """Directory of links to skills, or of copies of them."""

    path: str  # absolute, without links in it
    selection: Selection = EVERY
    index: str | None = None  # a prompt index, whose filter counts instead of the selection
    is_copy: bool = False  # has plain folders instead of links

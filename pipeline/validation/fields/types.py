"""Types of declared values, which accept the usual ways of writing them."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

_LIST_COMMA = re.compile("[,，、;；\n]")

Path: TypeAlias = tuple[str | int, ...]
"""Path of a field in a model: names in SKILL.md and positions in lists."""


class Fields(BaseModel):
    """Fields that belong together; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    expected: ClassVar[Mapping[Path, str]] = {}
    """Expected values in words, for fields whose type alone does not describe them."""
    lists_of_fields: ClassVar[frozenset[Path]] = frozenset()
    """Lists whose items have fields; every other list is a single field."""


F = TypeVar("F", bound=Fields)


def _words(value: object) -> object:
    """Read `a, b` and `a b` as lists, and drop empty items."""
    if isinstance(value, str):
        return _LIST_COMMA.split(value) if _LIST_COMMA.search(value) else value.split()
    return _phrases(value)


def _phrases(value: object) -> object:
    """Read a single text as a list of one, and drop empty items."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in value if item is not None]
    return () if value is None else value


def _distinct(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _joined(value: object) -> object:
    """Read a list of texts as one text."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return value


def _tools(value: object) -> object:
    """Write `[Read, Grep]` and `Read, Grep` as `Read Grep`, leaving `Bash(a, b)` alone."""
    text = _joined(value)
    if not isinstance(text, str):
        return text
    if isinstance(value, str) and "," in text:
        text = _commas_to_spaces(text)
    return " ".join(text.split())


def _commas_to_spaces(text: str) -> str:
    depth, written = 0, []
    for character in text:
        depth += (character == "(") - (character == ")")
        written.append(" " if character == "," and depth <= 0 else character)
    return "".join(written)


Stripped: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True)]
Text: TypeAlias = Stripped | None
Flag: TypeAlias = bool | None
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)] | None
Hint: TypeAlias = Annotated[Stripped, BeforeValidator(_joined)] | None  # `[file]` is a YAML list
Map: TypeAlias = dict[str, Any] | None
Words: TypeAlias = Annotated[
    tuple[Stripped, ...], BeforeValidator(_words), AfterValidator(_distinct)
]
Phrases: TypeAlias = Annotated[
    tuple[Stripped, ...], BeforeValidator(_phrases), AfterValidator(_distinct)
]
Tools: TypeAlias = Annotated[str, BeforeValidator(_tools)] | None

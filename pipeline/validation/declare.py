"""Frontmatter as typed fields, of all systems, with the words in them that a search finds."""

import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path as File
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from catalog.model.fields import (
    CLAUDE_CODE,
    CLAUDE_CODE_NAMES,
    SPECIFICATION_NAMES,
    Declared,
    F,
    Fields,
    Path,
)
from catalog.model.values import Json
from catalog.text.visible import kind_of, printable, quoted
from pipeline.validation.profile import Dialects
from pipeline.validation.skill import Declaration, TypeMismatch

SEARCHED_METADATA = (
    "keywords",
    "category",
    "domain",
    "capabilities",
    "triggers",
    "phrases",
    "intents",
    "languages",
    "frameworks",
)
"""Keys of the free `metadata` map whose texts are searched, with those in lists and maps."""

MOST_CHARACTERS = 4000
"""Characters of all these words of a skill, at most."""

_EXPECTED = {
    "bool": "yes or no",
    "float": "a number from 0 to 1",
    "greater": "a number from 0 to 1",
    "less": "a number from 0 to 1",
    "dict": "a map",
    "model": "a map",
    "string": "text",
    "tuple": "a list of texts",
}
"""Expected values, by the first word of the type of pydantic's error."""


def declare(
    frontmatter: Mapping[str, Json],
    in_quotes: frozenset[str],
    dialects: Dialects,
    named: Dialects,
) -> Declaration:
    """Return the declared fields, and the fields whose values have the wrong type.

    in_quotes contains the paths of quoted values. The fields of all dialects are read, but only the
    named ones ask for their types. An empty value counts as not declared. Wrong types
    that the specification's rules report are left to them. Never raises.
    """
    mismatches: dict[Path, TypeMismatch] = {}
    own = {
        dialect: _read(dialect.model, dialect.values(frontmatter, in_quotes), mismatches)
        for dialect in dialects
        if not dialect.fields.isdisjoint(frontmatter)
    }
    common = _read(Declared, frontmatter, mismatches)
    asked = {*SPECIFICATION_NAMES, *CLAUDE_CODE_NAMES}.union(*(each.fields for each in named))
    return Declaration(
        common,
        own,
        tuple(wrong for path, wrong in mismatches.items() if path[0] in asked),
        clients(dialects),
        next((dialect.owner for dialect in named if dialect.is_extensible), None),
    )


@lru_cache
def clients(dialects: Dialects) -> Mapping[str, tuple[str, ...]]:
    """Return the clients that read each field beside the specification's, as messages name them."""
    data = tomllib.loads(File(__file__).with_name("clients.toml").read_text("utf-8"))
    of_client: dict[str, Iterable[str]] = {CLAUDE_CODE: CLAUDE_CODE_NAMES}
    of_client |= {client: fields.split() for client, fields in data.items()}
    of_client |= {dialect.owner: dialect.fields for dialect in dialects}
    known: dict[str, tuple[str, ...]] = {}
    for client, fields in of_client.items():
        known |= {field: (*known.get(field, ()), client) for field in fields}
    return known


def _read(
    model: type[F], frontmatter: Mapping[str, Json], mismatches: MutableMapping[Path, TypeMismatch]
) -> F:
    """Return the fields of a model, and add its fields of the wrong type to the mismatches."""
    values = {key: value for key, value in frontmatter.items() if value is not None and value != ""}
    while True:
        try:
            return model.model_validate(values)
        except ValidationError as problem:
            errors = problem.errors(include_url=False, include_context=False)
        wrong = {_path(error, model.lists_of_fields): error for error in reversed(errors)}
        for path, error in reversed(wrong.items()):
            if path[0] not in SPECIFICATION_NAMES or _is_text(values, path):
                mismatches.setdefault(path, _mismatch(path, error, values, model))
        for path, error in wrong.items():
            # A map that lacks a required field is ignored as a whole.
            values = _without(values, path[:-1] if error["type"] == "missing" else path)


def _path(error: ErrorDetails, lists: Container[Path]) -> Path:
    """Return the path of the field with an error; a list of texts is one field."""
    path = error["loc"]
    ends = (n for n, part in enumerate(path) if isinstance(part, int) and path[:n] not in lists)
    return path[: next(ends, len(path))]


def _is_text(values: Any, path: Path) -> bool:
    """Return whether the value at a path inside a field of the specification is text."""
    for part in path:
        values = values[part]
    return len(path) > 1 and isinstance(values, str)


def _mismatch(path: Path, error: ErrorDetails, values: Any, model: type[Fields]) -> TypeMismatch:
    field = ".".join(map(str, path))
    if error["type"] == "missing":
        return TypeMismatch(field, f"{printable(field)} is missing.")
    for part in path:
        values = values[part]
    kind = "tuple" if len(error["loc"]) > len(path) else error["type"].partition("_")[0]
    expected = model.expected.get(path) or _EXPECTED.get(kind, "something else")
    return TypeMismatch(field, f"{printable(field)} is {_shown(values)}; {expected} is expected.")


def _shown(value: object) -> str:
    if value is None:
        return "empty"
    return quoted(value) if isinstance(value, str) else kind_of(value)


def _without(value: Any, path: Path) -> Any:
    """Return a value without the part at a path; in a list, None replaces it."""
    first, rest = path[0], path[1:]
    if isinstance(value, list):
        inner = _without(value[int(first)], rest) if rest else None
        return [inner if index == first else item for index, item in enumerate(value)]
    if not isinstance(value, dict) or first not in value:
        return value  # it was removed already
    if rest:
        return value | {first: _without(value[first], rest)}
    return {key: inner for key, inner in value.items() if key != first}


def search_words(frontmatter: Mapping[str, Json], declaration: Declaration) -> tuple[str, ...]:
    """Return the distinct words and phrases that the fields of all systems declare."""
    common = declaration.common
    metadata = frontmatter.get("metadata")
    free = metadata if isinstance(metadata, Mapping) else {}
    triggers = frontmatter.get("triggers")
    words = [
        *common.keywords,
        common.category,
        common.when_to_use,
        *(_texts(triggers) if isinstance(triggers, list | tuple) else ()),
        *(text for key in SEARCHED_METADATA for text in _texts(free.get(key))),
        *(
            word
            for dialect, fields in declaration.own.items()
            for word in dialect.search_words(fields)
        ),
    ]
    return tuple(_within(dict.fromkeys(word for word in words if word)))


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts of a value and of the lists and maps in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _within(words: Mapping[str, None]) -> Iterator[str]:
    """Yield words up to the limit."""
    left = MOST_CHARACTERS
    for word in words:
        if len(word) > left:
            return
        left -= len(word)
        yield word

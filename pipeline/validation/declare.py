"""Frontmatter as typed fields: the common ones, and beside them those of dialects."""

from collections.abc import Container, Mapping, MutableMapping
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from catalog.model.values import Json
from catalog.text.quoting import kind, printable, quoted
from pipeline.validation.dialect import Dialects
from pipeline.validation.fields.frontmatter import (
    CLAUDE_CODE,
    CLAUDE_CODE_NAMES,
    SPECIFICATION,
    SPECIFICATION_NAMES,
    Declaration,
    Declared,
    TypeMismatch,
)
from pipeline.validation.fields.types import F, Fields, Path


def declare(
    frontmatter: Mapping[str, Json], in_quotes: frozenset[str], dialects: Dialects
) -> Declaration:
    """Return what the frontmatter declares, and the fields that do not fit their type.

    in_quotes are the paths of quoted values. An empty value counts as not declared. Misfits among
    the specification's own fields are left to the rules of the specification. Never raises.
    """
    misfits: dict[Path, TypeMismatch] = {}
    own = {
        dialect.model: _read(dialect.model, dialect.values(frontmatter, in_quotes), misfits)
        for dialect in dialects
        if not dialect.fields.isdisjoint(frontmatter)
    }
    common = _read(Declared, frontmatter, misfits)
    return Declaration(common, own, owners(dialects), tuple(misfits.values()))


@lru_cache
def owners(dialects: Dialects) -> Mapping[str, str]:
    """Return the system that defined each field that any defined, as messages name it."""
    return {
        **{field: dialect.owner for dialect in reversed(dialects) for field in dialect.fields},
        **dict.fromkeys(CLAUDE_CODE_NAMES, CLAUDE_CODE),
        **dict.fromkeys(SPECIFICATION_NAMES, SPECIFICATION),
    }


def _read(
    model: type[F], frontmatter: Mapping[str, Json], misfits: MutableMapping[Path, TypeMismatch]
) -> F:
    """Return the fields of a model, and add those that do not fit to the misfits."""
    values = {key: value for key, value in frontmatter.items() if value is not None and value != ""}
    while True:
        try:
            return model.model_validate(values)
        except ValidationError as problem:
            errors = problem.errors(include_url=False, include_context=False)
        wrong = {_path(error, model.lists_of_fields): error for error in reversed(errors)}
        for path, error in reversed(wrong.items()):
            if len(path) > 1 or path[0] not in SPECIFICATION_NAMES:
                misfits.setdefault(path, _misfit(path, error, values, model))
        for path, error in wrong.items():
            # Without a part that it cannot do without, the whole is not declared.
            values = _without(values, path[:-1] if error["type"] == "missing" else path)


_EXPECTED = {
    "bool_parsing": "yes or no",
    "bool_type": "yes or no",
    "float_parsing": "a number from 0 to 1",
    "float_type": "a number from 0 to 1",
    "greater_than_equal": "a number from 0 to 1",
    "less_than_equal": "a number from 0 to 1",
    "dict_type": "a map",
    "model_type": "a map",
    "string_type": "text",
    "string_too_short": "text",
    "tuple_type": "a list of texts",
}


def _path(error: ErrorDetails, lists: Container[Path]) -> Path:
    """Return the path of the field that an error is in: lists of texts are one field."""
    where = error["loc"]
    cut = (at for at, part in enumerate(where) if isinstance(part, int) and where[:at] not in lists)
    return where[: next(cut, len(where))]


def _misfit(path: Path, error: ErrorDetails, values: Any, model: type[Fields]) -> TypeMismatch:
    field = ".".join(map(str, path))
    if error["type"] == "missing":
        return TypeMismatch(field, f"{printable(field)} is missing.")
    for part in path:
        values = values[part]
    in_a_list = len(error["loc"]) > len(path)
    expected = model.expected.get(path) or (
        "a list of texts" if in_a_list else _EXPECTED.get(error["type"], "something else")
    )
    return TypeMismatch(field, f"{printable(field)} is {_shown(values)}; {expected} is expected.")


def _shown(value: object) -> str:
    if value is None:
        return "empty"
    return quoted(value) if isinstance(value, str) else kind(value)


def _without(value: Any, path: Path) -> Any:
    """Return a value without what stands at a path; a list has None in its place."""
    first, rest = path[0], path[1:]
    if isinstance(value, list):
        inner = _without(value[int(first)], rest) if rest else None
        return [inner if at == first else item for at, item in enumerate(value)]
    if not isinstance(value, dict) or first not in value:
        return value  # it is gone already, and all that was in it
    if rest:
        return value | {first: _without(value[first], rest)}
    return {key: inner for key, inner in value.items() if key != first}

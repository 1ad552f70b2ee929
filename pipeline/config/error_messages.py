"""Error messages about invalid settings."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

Tables: TypeAlias = dict[str, type]
"""Models of tables by name, and that of all settings by `TOP`."""
TOP = ""


class Layer(NamedTuple):
    """Values from one source, in the shape of Settings."""

    source: str
    values: Mapping[str, Any]


def error_sentence(
    error: ValidationError, layers: Sequence[Layer], tables: Tables, *table: str
) -> str:
    """Return one sentence about the first error, with the source and the key.

    `table` is the table that was validated, if it was not all settings.
    """
    problem = error.errors(include_url=False)[0]
    where = (*table, *problem["loc"])
    sentence = f"{_source(where, layers)}: {_complaint(problem, where, tables)}"
    return sentence.replace("the ", "The ", 1) if sentence.startswith("the ") else sentence


def fields_of(model: object) -> Mapping[str, FieldInfo]:
    """Return the fields of a model or dataclass of pydantic; other types have none."""
    return getattr(model, "__pydantic_fields__", {})


def tables_of(model: type) -> Tables:
    """Return a model with those of its tables."""
    found = {name: _table_in(field.annotation) for name, field in fields_of(model).items()}
    return {TOP: model} | {name: table for name, table in found.items() if table}


def _table_in(annotation: Any) -> type | None:
    """Return the model of a table or of a list of tables."""
    if fields_of(annotation):
        return annotation  # type: ignore[no-any-return]  # only classes have fields
    return next((table for part in get_args(annotation) if (table := _table_in(part))), None)


def _source(where: Sequence[str | int], layers: Sequence[Layer]) -> str:
    """Return the source of the value at a location; all sources for an error without location."""
    if not where:
        return " and ".join(layer.source for layer in reversed(layers) if layer.values)
    having = [layer for layer in layers if where[0] in layer.values]
    having = [layer for layer in having if _has_key(layer, where)] or having
    return having[0].source if having else "the defaults"


def _has_key(layer: Layer, where: Sequence[str | int]) -> bool:
    table = layer.values[str(where[0])]
    return not isinstance(table, dict) or len(where) == 1 or where[1] in table


def _complaint(problem: Mapping[str, Any], where: Sequence[str | int], tables: Tables) -> str:
    message = problem.get("ctx", {}).get("error")
    match where:
        case ():
            return f"{message}."
        case (str(top),) if top in tables and (message or TOP not in tables):
            return f"[{top}] {message or 'must be a table'}."
        case (str(top), int(number)):
            return f"[[{top}]] number {number + 1} {message or 'must be a table'}."
        case (str(top), int(number), str(key), *_):
            return _complaint_of(problem, key, tables[top], f"[[{top}]] number {number + 1}")
        case (str(top), str(key), *_) if top in tables:
            return _complaint_of(problem, key, tables[top], f"[{top}]")
    return _complaint_of(problem, str(where[0]), tables[TOP], "")


def _complaint_of(problem: Mapping[str, Any], key: str, model: type, table: str) -> str:
    inside = f" in {table}" if table else ""
    known = fields_of(model)
    if key not in known:
        matches = difflib.get_close_matches(key, known, n=1)
        return f"there is no setting {key}{inside}; " + (
            f"did you mean {matches[0]}?" if matches else f"the settings are {', '.join(known)}."
        )
    if problem["type"] == "missing":
        return f"{table} has no {key}; it must be {known[key].description}."
    value = problem["input"]
    shown = repr(str(value) if isinstance(value, Path) else value)
    return f"{key}{inside} is {shown}; it must be {known[key].description}."

"""Error messages about invalid settings."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from pipeline.config.layers import Layer

Tables: TypeAlias = Mapping[str, type[BaseModel]]
"""Models of tables by name; that of keys outside of them, if there are any, by `TOP`."""

TOP = ""

_SINGLE = frozenset({"limits", "retention", "site", "webhook", "validate"})  # written as [table]


def error_sentence(
    error: ValidationError, layers: Sequence[Layer], tables: Tables, *table: str
) -> str:
    """Return one sentence about the first error, with the source and the key.

    `table` is the table that was validated, if it was not all settings.
    """
    problem = error.errors(include_url=False)[0]
    where = [*table, *map(str, problem["loc"])]
    sentence = f"{_source(where, layers)}: {_complaint(problem, where, tables)}"
    return sentence.replace("the ", "The ", 1) if sentence.startswith("the ") else sentence


def _source(where: Sequence[str], layers: Sequence[Layer]) -> str:
    """Return the source of the value at a location; all sources for an error without location."""
    if not where:
        return " and ".join(layer.source for layer in reversed(layers) if layer.values)
    return next(layer.source for layer in layers if _contains(layer.values, where))


def _contains(values: Mapping[str, Any], where: Sequence[str]) -> bool:
    top, *rest = where
    table = values.get(top)
    if top == "validate":  # its keys may have hyphens
        return top in values
    return top in values and (not isinstance(table, dict) or not rest or rest[0] in table)


def _complaint(problem: Mapping[str, Any], where: Sequence[str], tables: Tables) -> str:
    message = problem.get("ctx", {}).get("error")
    if not where:
        return f"{message}."
    if message and len(where) == 1 and where[0] in _SINGLE:
        return f"[{where[0]}] {message}."
    model, table, key = _place(where, tables)
    if not key:
        return f"{table} {message or 'must be a table'}."
    inside = f" in {table}" if table else ""
    known = {field.alias or name: field for name, field in model.model_fields.items()}
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


def _place(where: Sequence[str], tables: Tables) -> tuple[type[BaseModel], str, str]:
    """Return the model of a location, the name of its table in the file, and the key.

    The key is empty if the error is about the whole table.
    """
    top, *rest = where
    if TOP in tables and (top not in tables or not rest):
        return tables[TOP], "", top
    if top in _SINGLE:
        return tables[top], f"[{top}]", "".join(rest[:1])
    return tables[top], f"[[{top}]] number {int(rest[0]) + 1}", "".join(rest[1:2])

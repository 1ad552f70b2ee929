"""Sentences about settings that cannot be used."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from pipeline.config.settings import (
    IndexSettings,
    LimitSettings,
    RetentionSettings,
    RootSettings,
    Settings,
    SiteSettings,
)

# Where settings come from


class _Layer(NamedTuple):
    """What one source says, in the shape of Settings."""

    source: str
    values: Mapping[str, Any]


# What is wrong, in one sentence

_TABLES: Mapping[str, type[BaseModel]] = {
    "roots": RootSettings,
    "indexes": IndexSettings,
    "limits": LimitSettings,
    "retention": RetentionSettings,
    "site": SiteSettings,
}


def _sentence(error: ValidationError, layers: Sequence[_Layer]) -> str:
    problem = error.errors(include_url=False)[0]
    where = list(map(str, problem["loc"]))
    sentence = f"{_source(where, layers)}: {_complaint(problem, where)}"
    return sentence.replace("the ", "The ", 1) if sentence.startswith("the ") else sentence


def _source(where: Sequence[str], layers: Sequence[_Layer]) -> str:
    """Return which source said what stands in a place; all of them where there is no place."""
    if not where:
        return " and ".join(layer.source for layer in reversed(layers) if layer.values)
    return next(layer.source for layer in layers if _speaks_of(where, layer.values))


def _speaks_of(where: Sequence[str], values: Mapping[str, Any]) -> bool:
    top, *rest = where
    table = values.get(top)
    return top in values and (not isinstance(table, dict) or not rest or rest[0] in table)


def _complaint(problem: Mapping[str, Any], where: Sequence[str]) -> str:
    own_words = problem.get("ctx", {}).get("error")
    if not where:
        return f"{own_words}."
    model, table, key = _place(where)
    if not key:
        return f"{table} {own_words or 'must be a table'}."
    inside = f" in {table}" if table else ""
    known = list(model.model_fields)
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        return f"there is no setting {key}{inside}; " + (
            f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        )
    if problem["type"] == "missing":
        return f"{table} has no {key}; it must be {model.model_fields[key].description}."
    value = problem["input"]
    shown = repr(str(value) if isinstance(value, Path) else value)
    return f"{key}{inside} is {shown}; it must be {model.model_fields[key].description}."


def _place(where: Sequence[str]) -> tuple[type[BaseModel], str, str]:
    """Return the model that a place belongs to, its name in the file, and the key in it.

    The key is empty where a table as a whole is meant.
    """
    top, *rest = where
    if top not in _TABLES or not rest:
        return Settings, "", top
    if top in ("limits", "retention", "site"):
        return _TABLES[top], f"[{top}]", rest[0]
    return _TABLES[top], f"[[{top}]] number {int(rest[0]) + 1}", "".join(rest[1:2])

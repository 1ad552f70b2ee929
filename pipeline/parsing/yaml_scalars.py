"""YAML scalars with their YAML 1.2 types, for values that must be JSON and not just text."""

import math
import re
from collections.abc import Mapping, Set

from catalog.model.values import Json

LONGEST_NUMBER = 300
"""Digits; a longer one stays text."""

_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def typed(value: Json, path: str, quoted: Set[str]) -> Json:
    """Return the value at a path with its plain scalars as booleans and numbers.

    quoted holds the paths of quoted scalars, which are always text. Infinities and NaN have no
    form in JSON, so they stay text.
    Source: YAML 1.2.2, section 10.3.2, Tag Resolution.
    """
    if isinstance(value, str):
        return value if path in quoted else _scalar(value)
    if isinstance(value, Mapping):
        return {key: typed(inner, f"{path}.{key}", quoted) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [typed(inner, f"{path}.{index}", quoted) for index, inner in enumerate(value)]
    return value


def _scalar(text: str) -> Json:
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text

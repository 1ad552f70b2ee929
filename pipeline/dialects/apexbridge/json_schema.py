"""Problems of declared JSON Schemas, found without fetching anything."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.model.finding import FindingType
from catalog.model.values import Json
from catalog.text.visible import printable
from pipeline.dialects.apexbridge.codes import (
    SCHEMA_DIALECT_UNKNOWN,
    SCHEMA_INVALID,
    SCHEMA_REFERENCE_OUTSIDE,
)

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DATA = frozenset({"default", "examples", "example", "const", "enum"})  # $ref in them is data
_LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One problem of a schema."""

    kind: FindingType
    path: str  # inside the schema: "properties.city.type"; "" is the whole schema
    message: str


def problems_of(schema: Mapping[str, Json]) -> Iterator[SchemaProblem]:
    """Yield a schema's problems: unknown dialect, worst error, first reference to the outside.

    It is checked against the version that $schema names, or else 2020-12. Patterns are not
    checked, because Python cannot read ECMAScript's regular expressions.
    """
    # Importing takes 70 ms, so it happens only for packages with a schema.
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError

    checked = dict(schema)
    version = checked.pop("$schema", None)
    validator = Draft202012Validator if version is None else _validator_of(version)
    if validator is None:
        validator = Draft202012Validator
        yield SchemaProblem(
            SCHEMA_DIALECT_UNKNOWN,
            "$schema",
            "it does not name a known version of JSON Schema; 2020-12 was assumed",
        )
    try:
        validator.check_schema(checked, format_checker=FormatChecker(formats=()))
    except SchemaError as error:
        yield SchemaProblem(
            SCHEMA_INVALID,
            ".".join(map(str, error.absolute_path)),
            printable(error.message, _LONGEST_MESSAGE),
        )
    except RecursionError:
        yield SchemaProblem(SCHEMA_INVALID, "", "it is nested too deeply")
    for path, target in _references(schema, ""):
        if not target.startswith("#"):
            yield SchemaProblem(
                SCHEMA_REFERENCE_OUTSIDE, path, f"it refers to “{printable(target)}”"
            )
            return


def _validator_of(version: Json) -> Any:
    """Return the validator for a value of $schema, or None for an unknown version."""
    from jsonschema.validators import validator_for

    unknown: Any = object()
    try:
        validator = validator_for({"$schema": version}, default=unknown)
    except (TypeError, ValueError, AttributeError):  # it is not a text, or not an address
        return None
    return None if validator is unknown else validator


def _references(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and target of every reference."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            below = f"{path}.{key}" if path else key
            if key in _REFERENCES and isinstance(inner, str):
                yield below, inner
            elif key not in _DATA:
                yield from _references(inner, below)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _references(inner, f"{path}.{index}")

"""Problem of a declared JSON Schema, found without fetching anything."""

from collections.abc import Mapping
from typing import Any

from catalog.model.values import Json
from catalog.text.visible import printable

_LONGEST_MESSAGE = 200


def problem_of(schema: Mapping[str, Json]) -> tuple[str, str] | None:
    """Return the path and the message of a schema's worst error, if it has one.

    It is checked against the version that $schema names, else against 2020-12; nothing is fetched.
    Patterns are not checked, because Python cannot read ECMAScript's regular expressions.
    """
    # Importing takes 70 ms, so it happens only for packages with a schema.
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    checked = dict(schema)
    version = str(checked.pop("$schema", ""))
    validator: Any
    try:
        validator = validator_for({"$schema": version}, default=Draft202012Validator)
    except ValueError:  # it is no address
        validator = Draft202012Validator
    try:
        validator.check_schema(checked, format_checker=FormatChecker(formats=()))
    except SchemaError as error:
        path = ".".join(map(str, error.absolute_path))
        return path, printable(error.message, _LONGEST_MESSAGE)
    except RecursionError:
        return "", "it is nested too deeply"
    return None

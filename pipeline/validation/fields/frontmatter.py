"""The types of what a SKILL.md may declare, whoever defined the field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from catalog.model.values import Json
from catalog.text.quoting import kind, printable, quoted
from pipeline.dialects.apexbridge.fields import ApexBridgeFields
from pipeline.validation.fields.types import (
    Fields,
    Flag,
    Hint,
    Map,
    Phrases,
    Share,
    Text,
    Tools,
    Words,
)


@dataclass(frozen=True, slots=True)
class Misfit:
    """A field whose value is of the wrong type, and is read as if it were not declared."""

    field: str  # "user-invocable", "triggers.priority"
    message: str


def declare(frontmatter: Mapping[str, Json]) -> tuple["Declared", tuple[Misfit, ...]]:
    """Return what the frontmatter declares, typed, and the fields that do not fit their type.

    An empty value counts as not declared. Misfits among the specification's own fields are left
    to the rules of the specification. Never raises.
    """
    values = {key: value for key, value in frontmatter.items() if value is not None and value != ""}
    misfits: dict[_Path, Misfit] = {}
    while True:
        try:
            declared = Declared.model_validate(values)
        except ValidationError as problem:
            errors = problem.errors(include_url=False, include_context=False)
        else:
            return declared, tuple(misfits.values())
        wrong = {_path(error): error for error in reversed(errors)}
        for path, error in reversed(wrong.items()):
            if len(path) > 1 or OWNERS[str(path[0])] != SPECIFICATION:
                misfits.setdefault(path, _misfit(path, error, values))
        for path, error in wrong.items():
            # Without a part that it cannot do without, the whole is not declared.
            values = _without(values, path[:-1] if error["type"] == "missing" else path)


class Metadata(Fields):
    """What the free `metadata` map may say in place of the fields outside the specification."""

    display_name: Text = Field(None, alias="displayName")
    author: Text = None
    category: Text = None
    tags: Words = ()
    keywords: Words = ()
    priority: Share = None


class SpecificationFields(Fields):
    """Source: Agent Skills specification, Frontmatter."""

    name: Text = None
    description: Text = None
    license: Text = None
    compatibility: Text = None
    metadata: Metadata = Metadata()
    allowed_tools: Tools = Field(None, alias="allowed-tools")


class ClaudeCodeFields(Fields):
    """Source: Claude Code documentation, Skills, Frontmatter reference."""

    when_to_use: Text = None
    argument_hint: Hint = Field(None, alias="argument-hint")
    arguments: Words = ()
    disable_model_invocation: Flag = Field(None, alias="disable-model-invocation")
    user_invocable: Flag = Field(None, alias="user-invocable")
    disallowed_tools: Tools = Field(None, alias="disallowed-tools")
    model: Text = None
    effort: Text = None
    context: Text = None
    agent: Text = None
    background: Flag = None
    hooks: Map = None
    paths: Phrases = ()
    shell: Text = None


class Declared(SpecificationFields, ClaudeCodeFields, ApexBridgeFields):
    """All that a SKILL.md declares; a field that nobody defined is kept as it was written."""


SPECIFICATION, CLAUDE_CODE, APEXBRIDGE = "the specification", "Claude Code", "ApexBridge"

_UNTYPED_APEXBRIDGE = (
    "config",
    "dependencies",
    "inputSchema",
    "loadingPriority",
    "outputSchema",
    "parameters",
    "priority",
    "triggerPatterns",
)


def _fields(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


OWNERS: Mapping[str, str] = {
    **dict.fromkeys(_UNTYPED_APEXBRIDGE, APEXBRIDGE),
    **dict.fromkeys(_fields(ApexBridgeFields), APEXBRIDGE),
    **dict.fromkeys(_fields(ClaudeCodeFields), CLAUDE_CODE),
    **dict.fromkeys(_fields(SpecificationFields), SPECIFICATION),
}
"""Who defined each field that anybody defined."""

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
_Path: TypeAlias = tuple[str | int, ...]

_EXPECTED_OF: Mapping[_Path, str] = {
    ("security", "timeout_ms"): "a whole number above 0",
    ("security", "memory_mb"): "a whole number above 0",
    ("ttl",): "a number of seconds",
    ("abp", "tools"): "a list of maps",
}
_TOOLS = ("abp", "tools")  # a list whose items have fields


def _path(error: ErrorDetails) -> _Path:
    """Return the path of the field that an error is in: lists of texts are one field."""
    where = error["loc"]
    cut = (at for at, part in enumerate(where) if isinstance(part, int) and where[:at] != _TOOLS)
    return where[: next(cut, len(where))]


def _misfit(path: _Path, error: ErrorDetails, values: Any) -> Misfit:
    field = ".".join(map(str, path))
    if error["type"] == "missing":
        return Misfit(field, f"{printable(field)} is missing.")
    for part in path:
        values = values[part]
    in_a_list = len(error["loc"]) > len(path)
    expected = _EXPECTED_OF.get(path) or (
        "a list of texts" if in_a_list else _EXPECTED.get(error["type"], "something else")
    )
    return Misfit(field, f"{printable(field)} is {_shown(values)}; {expected} is expected.")


def _shown(value: object) -> str:
    if value is None:
        return "empty"
    return quoted(value) if isinstance(value, str) else kind(value)


def _without(value: Any, path: _Path) -> Any:
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

"""The types of what a SKILL.md may declare, whoever defined the field."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from catalog.record import Json
from pipeline.findings.wording import kind, quoted


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
    try:
        return Declared.model_validate(values), ()
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_context=False)
    wrong = {_path(error): error for error in reversed(errors)}
    fitting = Declared.model_validate(_without(values, wrong))
    misfits = (
        _misfit(path, error, values)
        for path, error in reversed(wrong.items())
        if len(path) > 1 or OWNERS[path[0]] != SPECIFICATION
    )
    return fitting, tuple(misfits)


_LIST_COMMA = re.compile("[,，、;；\n]")


def _words(value: object) -> object:
    """Read `a, b` and `a b` as lists, and pass over empty items."""
    if isinstance(value, str):
        return _LIST_COMMA.split(value) if _LIST_COMMA.search(value) else value.split()
    return _phrases(value)


def _phrases(value: object) -> object:
    """Read one text as a list of one, and pass over empty items."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in value if item is not None]
    return value


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


_Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
Text: TypeAlias = _Stripped | None
Flag: TypeAlias = bool | None
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)] | None
Hint: TypeAlias = Annotated[_Stripped, BeforeValidator(_joined)] | None  # `[file]` is a YAML list
Map: TypeAlias = dict[str, Any] | None
Words: TypeAlias = Annotated[
    tuple[_Stripped, ...], BeforeValidator(_words), AfterValidator(_distinct)
]
Phrases: TypeAlias = Annotated[
    tuple[_Stripped, ...], BeforeValidator(_phrases), AfterValidator(_distinct)
]
Tools: TypeAlias = Annotated[str, BeforeValidator(_tools)] | None


class _Fields(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class Metadata(_Fields):
    """What the free `metadata` map may say in place of the fields outside the specification."""

    display_name: Text = Field(None, alias="displayName")
    author: Text = None
    category: Text = None
    tags: Words = ()
    keywords: Words = ()
    priority: Share = None


class SpecificationFields(_Fields):
    """Source: Agent Skills specification, Frontmatter."""

    name: Text = None
    description: Text = None
    license: Text = None
    compatibility: Text = None
    metadata: Metadata = Metadata()
    allowed_tools: Tools = Field(None, alias="allowed-tools")


class ClaudeCodeFields(_Fields):
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


class Triggers(_Fields):
    """When ApexBridge offers the skill, and how eagerly."""

    intents: Phrases = ()
    phrases: Phrases = ()
    event_types: Phrases = ()
    priority: Share = None


class ApexBridgeFields(_Fields):
    """Source: ApexBridge, skill metadata."""

    display_name: Text = Field(None, alias="displayName")
    version: Text = None
    type: Text = None
    category: Text = None
    domain: Text = None
    author: Text = None
    tags: Words = ()
    keywords: Words = ()
    triggers: Triggers = Triggers()


class Declared(SpecificationFields, ClaudeCodeFields, ApexBridgeFields):
    """All that a SKILL.md declares; a field that nobody defined is kept as it was written."""


SPECIFICATION, CLAUDE_CODE, APEXBRIDGE = "the specification", "Claude Code", "ApexBridge"

_UNTYPED_APEXBRIDGE = (
    "abp", "cacheable", "capabilities", "config", "dependencies", "input_schema", "inputSchema",
    "loadingPriority", "output_schema", "outputSchema", "parameters", "permissions", "priority",
    "protocol", "resources", "security", "triggerPatterns", "ttl",
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

_NESTED = ("metadata", "triggers")
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
    "tuple_type": "a list of texts",
}

_Path: TypeAlias = tuple[str, ...]


def _path(error: ErrorDetails) -> _Path:
    depth = 2 if error["loc"][0] in _NESTED else 1
    return tuple(str(part) for part in error["loc"][:depth])


def _misfit(path: _Path, error: ErrorDetails, values: Mapping[str, Any]) -> Misfit:
    value = values[path[0]]
    if len(path) > 1:
        value = value[path[1]]
    in_a_list = len(error["loc"]) > len(path)
    expected = "a list of texts" if in_a_list else _EXPECTED.get(error["type"], "something else")
    field = ".".join(path)
    return Misfit(field, f"{field} is {_shown(value)}; {expected} is expected.")


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else kind(value)


def _without(values: Mapping[str, Any], paths: Mapping[_Path, object]) -> dict[str, Any]:
    kept = dict(values)
    for first, *rest in paths:
        if rest:
            kept[first] = {key: value for key, value in kept[first].items() if key != rest[0]}
        else:
            del kept[first]
    return kept

"""Types of the fields that every SKILL.md may declare, and the typed result of one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import Field

from pipeline.validation.fields.types import (
    F,
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

SPECIFICATION, CLAUDE_CODE = "the specification", "Claude Code"


class ShownFields(Fields):
    """Fields outside the specification that the catalog shows, whichever system defines them."""

    display_name: Text = Field(None, alias="displayName")
    author: Text = None
    category: Text = None
    tags: Words = ()
    keywords: Words = ()


class Metadata(ShownFields):
    """Fields that may be declared in the free `metadata` map instead of at the top level."""

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


class Declared(SpecificationFields, ClaudeCodeFields, ShownFields):
    """The common fields, which are read from every skill."""


def names(model: type[Fields]) -> tuple[str, ...]:
    """Return the names in SKILL.md of a model's fields."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


SPECIFICATION_NAMES = names(SpecificationFields)
CLAUDE_CODE_NAMES = names(ClaudeCodeFields)


class TypeMismatch(NamedTuple):
    """A field whose value has the wrong type and is ignored."""

    field: str  # "user-invocable", "triggers.priority"
    message: str


class Declaration(NamedTuple):
    """Typed fields that a SKILL.md declares."""

    common: Declared
    own: Mapping[type[Fields], Any]  # by its model, the fields of each dialect that has any here
    owners: Mapping[str, str]  # the system that defines each known field
    mismatches: tuple[TypeMismatch, ...]
    systems: tuple[str, ...] = ()  # whose dialects are asked for, or that the package names …
    extensible: str | None = None  # … and the one of them that takes any field

    def owner(self, field: str) -> str | None:
        """Return the system that a field is for; None if no known system defines it."""
        owner = self.owners.get(field)
        return owner if owner in (SPECIFICATION, *self.systems) else self.extensible or owner

    def of(self, model: type[F]) -> F:
        """Return the fields of a dialect, all undeclared if it has none here."""
        fields: F = self.own[model] if model in self.own else model()
        return fields

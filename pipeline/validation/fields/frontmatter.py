"""The types of the fields that every SKILL.md may declare, and what one declares."""

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
    """Fields outside the specification that the catalog shows, whichever system defined them."""

    display_name: Text = Field(None, alias="displayName")
    author: Text = None
    category: Text = None
    tags: Words = ()
    keywords: Words = ()


class Metadata(ShownFields):
    """What the free `metadata` map may say in place of the fields outside the specification."""

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
    """The fields that are read of every skill."""


def names(model: type[Fields]) -> tuple[str, ...]:
    """Return the fields of a model by their names in SKILL.md."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


SPECIFICATION_NAMES = names(SpecificationFields)
CLAUDE_CODE_NAMES = names(ClaudeCodeFields)


class TypeMismatch(NamedTuple):
    """A field whose value is of the wrong type, and is read as if it were not declared."""

    field: str  # "user-invocable", "triggers.priority"
    message: str


class Declaration(NamedTuple):
    """Everything that a SKILL.md declares, typed."""

    common: Declared
    own: Mapping[type[Fields], Any]  # of each dialect of which a field is there, by its model
    owners: Mapping[str, str]  # the system that defined each field that any defined
    misfits: tuple[TypeMismatch, ...]

    def of(self, model: type[F]) -> F:
        """Return the fields of a dialect, which may all be undeclared."""
        fields: F = self.own[model] if model in self.own else model()
        return fields

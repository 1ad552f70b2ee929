"""Fields of a skill, each declared once: how it is read, stored, searched and shown."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from catalog.model.naming import NAME_CHARACTERS

_LIST_COMMA = re.compile("[,，、;；\n]")

Path: TypeAlias = tuple[str | int, ...]
"""Path of a field in a model: names in SKILL.md and positions in lists."""


class Fields(BaseModel):
    """Fields that belong together; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    expected: ClassVar[Mapping[Path, str]] = {}
    """Expected values in words, for fields whose type alone does not describe them."""
    lists_of_fields: ClassVar[frozenset[Path]] = frozenset()
    """Lists whose items have fields; every other list is a single field."""


F = TypeVar("F", bound=Fields)


def _words(value: object) -> object:
    """Read `a, b` and `a b` as lists, and drop empty items."""
    if isinstance(value, str):
        return _LIST_COMMA.split(value) if _LIST_COMMA.search(value) else value.split()
    return _phrases(value)


def _phrases(value: object) -> object:
    """Read a single text as a list of one, and drop empty items."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in value if item is not None]
    return () if value is None else value


def _distinct(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _joined(value: object) -> object:
    """Read a list of texts as one text."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return value


def spaced_tools(value: object) -> object:
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


Stripped: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True)]
Text: TypeAlias = Stripped | None
Flag: TypeAlias = bool | None
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)] | None
Hint: TypeAlias = Annotated[Stripped, BeforeValidator(_joined)] | None  # `[file]` is a YAML list
Map: TypeAlias = dict[str, Any] | None
Words: TypeAlias = Annotated[
    tuple[Stripped, ...], BeforeValidator(_words), AfterValidator(_distinct)
]
Phrases: TypeAlias = Annotated[
    tuple[Stripped, ...], BeforeValidator(_phrases), AfterValidator(_distinct)
]
Tools: TypeAlias = Annotated[str, BeforeValidator(spaced_tools)] | None


CLAUDE_CODE = "Claude Code"


@dataclass(frozen=True, slots=True)
class Column:
    """Column of `skills` that is kept with each version, and where people find and see it."""

    meaning: str
    kind: Any = str | None  # of its values: text, number, bool or, for a JSON list, tuple
    empty: Any = None  # stored for a skill, or an older version, that has no value of its own
    is_searched: bool = False  # whether a search finds the skill by it
    label: str = ""  # on the page of a skill; "" if it is not listed there
    short: str = ""  # in `show`, instead of the label

    @property
    def has_default(self) -> bool:
        """Return whether a row without a value of its own has the empty one in the schema, too."""
        return self.empty is not None and type(None) not in get_args(self.kind)

    @property
    def json_type(self) -> str | list[str]:
        """Return the name of the type of its values in JSON Schema."""
        kind, *others = get_args(self.kind) or (self.kind,)
        names = {str: "string", int: "integer", float: "number", bool: "boolean", tuple: "array"}
        return [names[kind], "null"] if others and kind is not bool else names[kind]

    @property
    def stored_kind(self) -> Any:
        """Return the type of the column itself."""
        return {bool: int, bool | None: int | None, tuple: str}.get(self.kind, self.kind)


class ShownFields(Fields):
    """Fields outside the specification that the catalog shows, whichever system defines them."""

    display_name: Annotated[Text, Column("Its name in readable form", is_searched=True)] = Field(
        None, alias="displayName"
    )
    author: Annotated[Text, Column("Its author, as declared", label="Author")] = None
    category: Annotated[Text, Column("Its category, as declared", label="Category")] = None
    tags: Words = ()
    keywords: Words = ()


class Metadata(ShownFields):
    """Fields that may be declared in the free `metadata` map instead of at the top level."""

    priority: Share = None


class SpecificationFields(Fields):
    """Source: Agent Skills specification, Frontmatter."""

    name: Text = None
    description: Text = None
    license: Annotated[
        Text, Column("Its license, as declared", label="License", short="licence")
    ] = None
    compatibility: Annotated[
        Text, Column("Its requirements, as declared", label="Compatibility", short="for")
    ] = None
    metadata: Metadata = Metadata()
    allowed_tools: Annotated[
        Tools,
        Column(
            "Tools it asks to use without confirmation, separated by spaces",
            label="Allowed tools",
            short="tools",
        ),
    ] = Field(None, alias="allowed-tools")


NAME_LIMIT, DESCRIPTION_LIMIT, COMPATIBILITY_LIMIT = NAME_CHARACTERS, 1_024, 500
"""Most characters of these fields."""


def _filled(value: object) -> object:
    """Read a blank value as an empty text."""
    return "" if value is None or (isinstance(value, str) and not value.strip()) else value


def normalised(value: object) -> object:
    """Read a name as the reference validator does."""
    return (
        unicodedata.normalize("NFKC", value.strip()) if isinstance(value, str) else _filled(value)
    )


class FieldLimits(BaseModel):
    """Types and limits of the fields. Source: Agent Skills specification, Frontmatter."""

    name: Annotated[
        str, StringConstraints(min_length=1, max_length=NAME_LIMIT), BeforeValidator(normalised)
    ]
    description: Annotated[
        str, StringConstraints(min_length=1, max_length=DESCRIPTION_LIMIT), BeforeValidator(_filled)
    ]
    compatibility: Annotated[
        str,
        StringConstraints(min_length=1, max_length=COMPATIBILITY_LIMIT),
        BeforeValidator(_filled),
    ] = "any"
    license: str | None = None
    metadata: Annotated[dict[str, str | None] | None, BeforeValidator(lambda v: v or None)] = None
    allowed_tools: str | None = Field(None, alias="allowed-tools")


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


DECLARED: Mapping[str, Column] = {
    name: column
    for name, field in Declared.model_fields.items()
    for column in field.metadata
    if isinstance(column, Column)
}
"""Columns with fields as they are declared."""

COLUMNS: Mapping[str, Column] = {
    "name": Column(
        "Its declared name, prefixed with plugin and colon in a plugin", str, "", is_searched=True
    ),
    "description": Column(
        "Its purpose and when to use it; agents read this first", str, "", is_searched=True
    ),
    **DECLARED,
    "tags": Column("Its tags", tuple, "[]", is_searched=True),
    "search_words": Column("Other words and phrases that find it", tuple, "[]", is_searched=True),
    "tools": Column("Names of the tools in allowed_tools", tuple, "[]"),
    "hosts": Column("Hosts of the URLs in its files", tuple, "[]"),
    "priority": Column(
        "From 0 to 1; within a level, a higher value comes first in an index",
        float | None,
        label="Priority",
    ),
    "model_invocable": Column(
        "Whether agents may start it; no index includes it otherwise", bool, 1
    ),
    "user_invocable": Column("Whether it is meant for people to start", bool, 1),
    "spec_valid": Column(
        "Whether it has only the fields of the Agent Skills specification, and no error under it",
        bool | None,
        0,
    ),
    "body_lines": Column("Lines of SKILL.md below the frontmatter", int | None),
    "estimated_tokens": Column("Approximate tokens of its SKILL.md", int | None),
    "skill_md_name": Column("SKILL.md, or its variant such as skill.md"),
    "grams": Column(
        "Runs of one to four Chinese, Japanese and Korean characters in searched texts", str, ""
    ),
}
"""The columns of a skill that follow from its files: each is an attribute of a SkillRecord."""

EMPTY: Mapping[str, Any] = {name: column.empty for name, column in COLUMNS.items()}
"""Values of a row, or of an older version, that has none of its own."""
SEARCHED = tuple(name for name, column in COLUMNS.items() if column.is_searched)
"""Columns that searches find, besides the body, the headings and the names of files."""


def declared_values(declared: Declared) -> dict[str, Any]:
    """Return the declared columns; a field may stand at the top level or, some, in `metadata`."""
    outer, inner = vars(declared), vars(declared.metadata)
    return {name: outer[name] or inner.get(name) or None for name in DECLARED}

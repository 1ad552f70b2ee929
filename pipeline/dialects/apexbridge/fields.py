"""Fields that a SKILL.md may declare for ApexBridge, and the catalog record made from them."""

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import Field, FiniteFloat, StringConstraints

from catalog.model.declarations import AbpTool, ApexBridge
from catalog.model.fields import Fields, Flag, Map, Path, Phrases, Share, Text, Words, names
from catalog.model.values import Json
from pipeline.parsing.yaml_reader import typed

TYPES = ("direct", "service", "distributed", "static", "preprocessor", "internal")
"""Values of `type`."""
PROTOCOLS = ("vcp", "abp")
"""Values of `protocol`, the default first."""
OLD_FILESYSTEM: Mapping[str, str] = {
    **dict.fromkeys(("none", "false", "no"), "none"),
    **dict.fromkeys(("read-only", "readonly", "read", "true"), "read-only"),
}
OLD_NETWORK: Mapping[str, str] = {
    **dict.fromkeys(("none", "false", "no"), "none"),
    **dict.fromkeys(("allowlist", "true", "yes"), "allowlist"),
}
"""Values of `permissions`, in lower case, with the equal values of `security`."""

_LARGEST = 2**53  # the largest whole number that every JSON reader represents exactly

_Count: TypeAlias = Annotated[int, Field(gt=0, le=_LARGEST)] | None


class Triggers(Fields):
    """Occasions on which ApexBridge offers the skill, and its priority."""

    intents: Phrases = ()
    phrases: Phrases = ()
    event_types: Phrases = ()
    priority: Share = None


class Security(Fields):
    """The sandbox in which ApexBridge runs the skill's scripts."""

    timeout_ms: _Count = None
    memory_mb: _Count = None
    network: Text = None
    network_allowlist: Phrases = ()
    filesystem: Text = None
    requires_filesystem: Flag = None
    environment: dict[str, str] | None = None


class Permissions(Fields):
    """The old form of `security`."""

    network: Text = None
    filesystem: Text = None


class Resources(Fields):
    """The files that the skill needs, relative to its folder."""

    entry: Text = None
    helpers: Phrases = ()
    references: Phrases = ()
    assets: Phrases = ()


class Tool(Fields):
    """A tool that the skill offers over the ABP protocol."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    description: Text = None
    kind: Text = None
    parameters: Map = None
    returns: Map = None


class Abp(Fields):
    """Tools that the skill offers over the ABP protocol."""

    kind: Text = None
    tools: tuple[Tool | None, ...] = ()  # None for an item that is not a tool


class ApexBridgeFields(Fields):
    """Source: ApexBridge, Skill format, YAML front matter.

    Fields that the catalog shows, such as tags, are also read with the common fields.
    """

    expected: ClassVar[Mapping[Path, str]] = {
        ("security", "timeout_ms"): "a whole number above 0",
        ("security", "memory_mb"): "a whole number above 0",
        ("ttl",): "a number of seconds",
        ("abp", "tools"): "a list of maps",
    }
    lists_of_fields: ClassVar[frozenset[Path]] = frozenset({("abp", "tools")})

    display_name: Text = Field(None, alias="displayName")
    version: Text = None
    type: Text = None
    category: Text = None
    domain: Text = None
    author: Text = None
    tags: Words = ()
    keywords: Words = ()
    capabilities: Words = ()
    triggers: Triggers = Triggers()
    input_schema: Map = None
    output_schema: Map = None
    security: Security | None = None
    permissions: Permissions | None = None
    resources: Resources | None = None
    protocol: Text = None
    abp: Abp | None = None
    cacheable: Flag = None
    ttl: Annotated[FiniteFloat, Field(ge=0, le=_LARGEST)] | None = None  # seconds


_UNREAD = """
    config dependencies inputSchema loadingPriority outputSchema parameters priority triggerPatterns
""".split()
FIELDS = frozenset((*names(ApexBridgeFields), *_UNREAD))
"""All fields that ApexBridge defines."""

_SIGNS = frozenset(
    """
    abp capabilities input_schema output_schema permissions protocol resources security triggers
""".split()
)
_FEWEST_SIGNS = 3  # another skill has one at most

_JSON_FIELDS = ("input_schema", "output_schema")
_JSON_OF_TOOLS = ("parameters", "returns")


def is_package(frontmatter: Mapping[str, Json]) -> bool:
    """Return whether a SKILL.md declares a package of ApexBridge.

    It has an execution type and a version, as the shortest documented package has, or several
    fields that hardly another system defines.
    """
    is_short = frontmatter.get("type") in TYPES and "version" in frontmatter
    return is_short or len(_SIGNS.intersection(frontmatter)) >= _FEWEST_SIGNS


def with_json_values(frontmatter: Mapping[str, Json], quoted: frozenset[str]) -> dict[str, Json]:
    """Return the frontmatter with numbers and booleans in the fields that are JSON."""
    fields = dict(frontmatter)
    for field in _JSON_FIELDS:
        if field in fields:
            fields[field] = typed(fields[field], field, quoted)
    abp = fields.get("abp")
    if isinstance(abp, dict) and isinstance(tools := abp.get("tools"), list):
        read: list[Any] = [dict(tool) if isinstance(tool, dict) else tool for tool in tools]
        for index, tool in enumerate(read):
            for key in _JSON_OF_TOOLS if isinstance(tool, dict) else ():
                if key in tool:
                    tool[key] = typed(tool[key], f"abp.tools.{index}.{key}", quoted)
        fields["abp"] = abp | {"tools": read}
    return fields


def security_of(declared: ApexBridgeFields) -> Security | None:
    """Return the declared sandbox, from the old form if necessary, or None."""
    if declared.security or not declared.permissions:
        return declared.security
    old = declared.permissions
    return Security(
        network=OLD_NETWORK.get((old.network or "").lower()),
        filesystem=OLD_FILESYSTEM.get((old.filesystem or "").lower()),
    )


def package_of(declared: ApexBridgeFields) -> ApexBridge | None:
    """Return the fields for ApexBridge alone as a record, or None if none is declared."""
    if not declared.model_fields_set:
        return None
    security, resources = security_of(declared) or Security(), declared.resources or Resources()
    parts = (declared, declared.triggers, security, resources)
    values = {name: value for part in parts for name, value in _values(part).items()}
    abp = declared.abp or Abp()
    package = ApexBridge(
        **{name: value for name, value in values.items() if name in _RECORDED},
        security_from=next((name for name in _SECURITY if getattr(declared, name)), None),
        abp_kind=abp.kind or None,
        tools=tuple(AbpTool(**_values(tool)) for tool in abp.tools if tool),
    )
    if package == _NOTHING:
        return None
    return replace(package, protocol=package.protocol or PROTOCOLS[0])


def searched_words(declared: ApexBridgeFields) -> tuple[str | None, ...]:
    """Return the words that a search finds: triggers, keywords, capabilities, domain and tools."""
    triggers, tools = declared.triggers, declared.abp.tools if declared.abp else ()
    return (
        *triggers.phrases,
        *triggers.intents,
        *declared.keywords,
        *declared.capabilities,
        declared.domain,
        declared.category,
        *(tool.name for tool in tools if tool),
    )


_NOTHING = ApexBridge()
_SECURITY = ("security", "permissions")  # of the latter only if the former is not declared
_RECORDED = frozenset(field.name for field in dataclass_fields(ApexBridge))


def _values(part: Fields) -> dict[str, Any]:
    """Return the fields of a part by name; an empty text counts as not declared."""
    return {name: None if value == "" else value for name, value in part}

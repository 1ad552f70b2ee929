"""Rules of ApexBridge about the fields of a package."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from catalog.model.finding import Finding
from catalog.model.values import Json
from catalog.text import humanize
from catalog.text.visible import printable, quoted
from pipeline.dialects.apexbridge import codes
from pipeline.dialects.apexbridge.fields import (
    FIELDS,
    OLD_FILESYSTEM,
    OLD_NETWORK,
    PROTOCOLS,
    TYPES,
    ApexBridgeFields,
    Security,
)
from pipeline.validation.skill import Rule, Skill

NETWORKS = ("none", "allowlist")
FILESYSTEMS = ("none", "read-only")

# Required fields, with the advice if they are missing. name and description are checked by the
# rules of the specification.
REQUIRED: Mapping[str, str] = {
    "version": "Add a semantic version: version: 1.0.0.",
    "type": f"Add its execution type: type: direct; the types are {', '.join(TYPES)}.",
    "capabilities": "List its abilities: capabilities: [summarize, translate].",
    "tags": "List words to find it by: tags: [text].",
    "triggers": "Say when to offer it: intents, phrases, event_types and a priority.",
    "input_schema": "Describe its parameters as JSON Schema, with type: object at the top.",
    "output_schema": "Describe its output as JSON Schema, with type: object at the top.",
    "security": "Set its limits: timeout_ms, memory_mb, network and filesystem.",
    "resources": "Name the script to execute, for example entry: ./scripts/execute.ts.",
}
MAY_BE_EMPTY = ("input_schema", "output_schema")  # {} is a schema that accepts everything
_LISTS = """
    capabilities tags keywords triggers.intents triggers.phrases triggers.event_types
    security.network_allowlist resources.helpers resources.references resources.assets
""".split()
# Source: Semantic Versioning 2.0.0, Is there a suggested regular expression.
_SEMANTIC = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?"
    r"(?:\+[\da-zA-Z-]+(?:\.[\da-zA-Z-]+)*)?",
    re.ASCII,
)


def required_fields(skill: Skill) -> Iterator[Finding]:
    """Find each required field that is missing or empty."""
    if skill.parsed.frontmatter is None:
        return
    for field, fix in REQUIRED.items():
        value = skill.frontmatter.get(field)
        if field == "security" and _declared(skill).permissions:
            continue  # its old form, which another rule reports
        empty = value in ((), [], {}) and field not in MAY_BE_EMPTY
        if value is None or empty or (isinstance(value, str) and not value.strip()):
            message = f"{field} is missing; ApexBridge requires it."
            yield skill.finding(codes.REQUIRED_FIELD_MISSING, message, field=field, fix=fix)


def types_and_ranges(skill: Skill) -> Iterator[Finding]:
    """Find each value of a wrong type or out of range, and texts in place of lists."""
    for mismatch in skill.declaration.mismatches:
        if mismatch.field.partition(".")[0] in FIELDS:
            yield skill.finding(codes.FIELD_MALFORMED, mismatch.message, field=mismatch.field)
    for field in _LISTS:
        outer, _, inner = field.partition(".")
        value = skill.frontmatter.get(outer)
        if inner:
            value = value.get(inner) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value.strip():
            message = f"{field} is {quoted(value)}; a list of texts is expected."
            fix = "Write a list: one `- text` per line, or [one, two]."
            yield skill.finding(codes.FIELD_MALFORMED, message, field=field, fix=fix)


def values_are_known(skill: Skill) -> Iterator[Finding]:
    """Find a version that is not MAJOR.MINOR.PATCH, and values that ApexBridge does not know."""
    declared = _declared(skill)
    if declared.version and not _SEMANTIC.fullmatch(declared.version):
        message = f"version is {quoted(declared.version)}, which is not a semantic version."
        yield skill.finding(codes.VERSION_NOT_SEMANTIC, message, field="version")
    security = declared.security or Security()
    for field, value, known in (
        ("type", declared.type, TYPES),
        ("protocol", declared.protocol, PROTOCOLS),
        ("security.network", security.network, NETWORKS),
        ("security.filesystem", security.filesystem, FILESYSTEMS),
    ):
        if value and value not in known:
            yield _unknown(skill, field, value, known)


def triggers_are_not_empty(skill: Skill) -> Iterator[Finding]:
    """Find triggers without an intent, a phrase or an event type."""
    triggers = _declared(skill).triggers
    if not isinstance(skill.frontmatter.get("triggers"), Mapping):
        return  # missing, or malformed
    if skill.frontmatter["triggers"] and not any(
        (triggers.intents, triggers.phrases, triggers.event_types)
    ):
        yield skill.finding(codes.TRIGGERS_EMPTY, field="triggers")


def schemas_are_valid(skill: Skill) -> Iterator[Finding]:
    """Find schemas that are not valid JSON Schema."""
    for field, schema in _schemas(skill):
        if problem := problem_of(schema):
            path = f"{field}.{problem[0]}" if problem[0] else field
            message = f"{printable(path)}: {problem[1]}."
            yield skill.finding(codes.SCHEMA_INVALID, message, field=path)


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
        return path, printable(error.message, 200)
    except RecursionError:
        return "", "it is nested too deeply"
    return None


def security_is_complete(skill: Skill) -> Iterator[Finding]:
    """Find limits that security does not set, and a missing list of addresses."""
    security = _declared(skill).security
    if security is None or not skill.frontmatter.get("security"):
        return
    if security.network == "allowlist" and not security.network_allowlist:
        yield skill.finding(codes.ALLOWLIST_MISSING, field="security.network")
    declared = skill.frontmatter["security"]
    if isinstance(declared, Mapping) and (
        missing := [
            field
            for field in ("timeout_ms", "memory_mb", "network")
            if declared.get(field) in (None, "")
        ]
    ):
        message = f"security does not set {humanize.listed(missing)}."
        yield skill.finding(codes.SECURITY_INCOMPLETE, message, field="security")


def no_old_permissions(skill: Skill) -> Iterator[Finding]:
    """Find permissions, and report how they are read as security."""
    old = _declared(skill).permissions
    if old is None:
        return
    if _declared(skill).security:
        yield skill.finding(
            codes.PERMISSIONS_OUTDATED,
            "permissions is the old form of security, which is also declared and takes precedence.",
            field="permissions",
            fix="Remove permissions.",
        )
        return
    equal: list[str] = []
    for name, value, meanings, known in (
        ("network", old.network, OLD_NETWORK, NETWORKS),
        ("filesystem", old.filesystem, OLD_FILESYSTEM, FILESYSTEMS),
    ):
        if value and value.lower() in meanings:
            equal.append(f"{name}: {meanings[value.lower()]}")
        elif value:
            yield _unknown(skill, f"permissions.{name}", value, known)
    result = f"it was read as security with {humanize.listed(equal)}" if equal else "it was ignored"
    message = f"permissions is the old form of security; {result}."
    yield skill.finding(codes.PERMISSIONS_OUTDATED, message, field="permissions")


def tools_are_complete(skill: Skill) -> Iterator[Finding]:
    """Find a protocol without tools, tools without a protocol, and incomplete tools."""
    declared = _declared(skill)
    tools = [
        (index, tool)
        for index, tool in enumerate(declared.abp.tools if declared.abp else ())
        if tool
    ]
    if declared.protocol == "abp" and not tools:
        yield skill.finding(codes.ABP_MISSING, field="abp" if declared.abp else "protocol")
    if tools and declared.protocol != "abp":
        yield skill.finding(codes.ABP_UNUSED, field="abp")
    names: set[str] = set()
    for index, tool in tools:
        field = f"abp.tools.{index}.name"
        if tool.name in names:
            yield skill.finding(
                codes.TOOL_TWICE, f"Two tools under abp are named {quoted(tool.name)}.", field=field
            )
        names.add(tool.name)
        if missing := [
            name
            for name, value in (("parameters", tool.parameters), ("returns", tool.returns))
            if value is None
        ]:
            message = f"The tool {quoted(tool.name)} has no {humanize.listed(missing, 'or')}."
            yield skill.finding(codes.TOOL_INCOMPLETE, message, field=field)


RULES: tuple[Rule, ...] = (
    required_fields,
    types_and_ranges,
    values_are_known,
    triggers_are_not_empty,
    schemas_are_valid,
    security_is_complete,
    no_old_permissions,
    tools_are_complete,
)


def _declared(skill: Skill) -> ApexBridgeFields:
    return skill.declaration.of(ApexBridgeFields)


def _schemas(skill: Skill) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield each declared JSON Schema, with its field.

    The parameters of a tool are a schema if they have properties; otherwise they map each name
    to its type.
    """
    declared = _declared(skill)
    for field in ("input_schema", "output_schema"):
        if schema := getattr(declared, field):
            yield field, schema
    for index, tool in enumerate(declared.abp.tools if declared.abp else ()):
        if tool and tool.parameters and "properties" in tool.parameters:
            yield f"abp.tools.{index}.parameters", tool.parameters


def _unknown(skill: Skill, field: str, value: str, known: tuple[str, ...]) -> Finding:
    message = f"{field} is {quoted(value)}, which ApexBridge does not know."
    fix = f"Write {humanize.listed(known, 'or')}."
    return skill.finding(codes.VALUE_UNKNOWN, message, field=field, fix=fix)

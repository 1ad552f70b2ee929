"""MCP skills extension: skills/list and skills/get.

Sources: SEP-2640, `io.modelcontextprotocol/skills`, for protocol 2026-07-28, with "Skill Entries"
and "Limits"; older clients that know the methods get the same.
"""

import math
import re
from contextlib import suppress
from typing import Annotated, Any

import yaml
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.types import PaginatedRequestParams, RequestParams
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from catalog.mcp import uris
from catalog.mcp.access import CatalogAccess, in_thread, protocol_errors
from catalog.model.errors import NotInCatalog, PackageDamaged
from catalog.model.fields import COMPATIBILITY_LIMIT, DESCRIPTION_LIMIT, NAME_LIMIT
from catalog.reading.files import skill_files
from catalog.reading.files.published import SKILL_MD, Package, package_of
from catalog.reading.skills import offered
from catalog.text.suggestions import shown

IDENTIFIER = "io.modelcontextprotocol/skills"

_ENVELOPE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_SETTINGS: dict[str, Any] = {}


async def _declared(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Declare the extension to older clients, too: the library keeps it from their handshake."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"]["extensions"] = {IDENTIFIER: _SETTINGS}
    return result


class _GetParams(RequestParams):
    uri: str


class SkillsExtension:
    """Handlers of the extension's methods."""

    def __init__(self, access: CatalogAccess) -> None:
        self._access = access

    def add_to(self, server: Server[Any]) -> None:
        """Register the methods and declare the extension."""
        server.add_request_handler("skills/list", PaginatedRequestParams, in_thread(self.page))
        server.add_request_handler(
            "skills/get", _GetParams, in_thread(lambda params: self.skill(params.uri))
        )
        server.extensions[IDENTIFIER] = _SETTINGS
        server.middleware.append(_declared)

    def page(self, params: PaginatedRequestParams | None) -> dict[str, Any]:
        """Return a page of the skills that a model may start and that are as clients want them."""
        rows, following = self._access.page("skills", "model", params)
        entries = []
        with protocol_errors(), self._access.open() as db:
            for row in rows:
                with suppress(NotInCatalog, PackageDamaged):  # `skill` says why for one
                    package = package_of(db, self._access.packages, row["skill_id"], by_id=True)
                    entries.append(entry_of(package))
        return _ENVELOPE | {"skills": entries} | ({"nextCursor": following} if following else {})

    def skill(self, uri: str) -> dict[str, Any]:
        """Return the entry of the skill with a SKILL.md."""
        with protocol_errors():
            asked = uris.parse(uri)
            with self._access.open() as db:
                offered.one(db, "model", asked.skill_id)
            entry = entry_of(self._access.package(asked.skill_id))
            if asked.version or uris.of(asked.skill_id, asked.path) != entry["uri"]:
                raise NotInCatalog(f"{shown(uri)} is not a skill's URI; that is {entry['uri']}.")
            return _ENVELOPE | {"skill": entry}


MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024
"""Limits of the extension for one skill; no client must load a larger one."""


class _Frontmatter(BaseModel):
    """Fields of the Agent Skills specification; clients refuse a list with others."""

    model_config = ConfigDict(strict=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=NAME_LIMIT)]
    description: Annotated[str, Field(pattern=r"\S", max_length=DESCRIPTION_LIMIT)]
    license: str = ""
    allowed_tools: Annotated[str, Field(alias="allowed-tools")] = ""
    compatibility: Annotated[str, Field(min_length=1, max_length=COMPATIBILITY_LIMIT)] = "any"
    metadata: dict[str, str] = {}


def entry_of(package: Package) -> dict[str, Any]:
    """Return the entry of a skill, made from the files that a client reads afterwards.

    Raises NotInCatalog with the reason if the skill breaks the rules of the extension, and
    PackageDamaged.
    """
    try:
        fields = _fields(package)
        _check_files(package)
    except ValueError as error:
        raise NotInCatalog(
            f"The skill {shown(package.skill)} is not in the skills extension: {error}; "
            "read its files as resources or with read_skill_file."
        ) from error
    folder = f"{own}/" if (own := uris.own_folder(package)) else ""
    return {
        "uri": uris.of(package.skill_id, folder + SKILL_MD),
        "frontmatter": fields,
        "resources": [
            {
                "uri": uris.of(package.skill_id, folder + file.path),
                "digest": f"sha256:{file.sha256}",
                "size": file.size,
            }
            for file in package.files
        ],
    }


def _fields(package: Package) -> dict[str, Any]:
    if SKILL_MD not in package.by_path:
        raise ValueError(f"it has no file {SKILL_MD}")
    skill_md = skill_files.read(package)
    if skill_md.encoding != "utf-8":
        raise ValueError(f"its {SKILL_MD} is not UTF-8 without a byte order mark")
    fields = parse_frontmatter(skill_md.text)
    try:
        name = _Frontmatter.model_validate(fields).name
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ValueError(f"{shown(field)} in its frontmatter is invalid") from error
    if name != (uris.own_folder(package) or package.skill_id):
        raise ValueError(f"{shown(name)} cannot be the end of its URI")
    return fields


def _check_files(package: Package) -> None:
    if len(package.files) > MOST_FILES:
        raise ValueError(f"it has more than {MOST_FILES} files")
    if sum(file.size for file in package.files) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    if uris.MANIFEST in package.by_path:
        raise ValueError(f"a file is named {uris.MANIFEST}, which is the URI of its list of files")
    if wrong := next((path for path in package.by_path if "\\" in path), None):
        raise ValueError(f"the name {shown(wrong)} has a backslash")


_BLOCK = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def parse_frontmatter(text: str) -> dict[str, Any]:
    """Return the fields of a SKILL.md that was accepted. Raises ValueError with a reason.

    Scalars get the types of YAML 1.2's core schema, so that a date or `yes` is text.
    Source: YAML 1.2.2, section 10.3.2, Tag Resolution.
    """
    block = _BLOCK.match(text)
    if block is None:
        raise ValueError("its frontmatter is not between --- lines")
    try:
        fields = yaml.load(block[1], Loader=_CoreLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError("its frontmatter is not valid YAML") from error
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise ValueError("its frontmatter has no named fields")
    return fields


class _CoreLoader(yaml.SafeLoader):
    """Loader that makes strings, numbers, booleans, null, lists and mappings, and no aliases."""

    yaml_implicit_resolvers = {}  # noqa: RUF012

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # An alias lets a few bytes become many.
        if self.check_event(yaml.AliasEvent):
            raise ValueError("an alias")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        fields = super().construct_mapping(node, deep)
        if len(fields) < len(node.value):
            raise ValueError("a field that is declared twice")
        return fields

    def number(self, node: yaml.ScalarNode) -> int | float:
        text = self.construct_scalar(node)
        if node.tag.endswith(":int"):
            return int(text, 0 if text[:2] in ("0o", "0x") else 10)
        if not math.isfinite(value := float(text)):
            raise ValueError("a number without a form in JSON")
        return value

    def boolean(self, node: yaml.ScalarNode) -> bool:
        return self.construct_scalar(node).lower() == "true"


for _tag, _form, _construct in (
    ("null", r"~|null|Null|NULL|", _CoreLoader.construct_yaml_null),
    ("bool", r"true|True|TRUE|false|False|FALSE", _CoreLoader.boolean),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", _CoreLoader.number),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", _CoreLoader.number),
):
    _CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), None
    )
    _CoreLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _construct)

"""Entries of skills in the MCP skills extension: frontmatter, and all files with their digests.

Source: SEP-2640, "Skill Entries" and "Limits".
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from catalog.mcp import frontmatter, uris
from catalog.model.errors import NotInCatalog
from catalog.reading import skill_files
from catalog.reading.published import SKILL_MD, Package
from catalog.text.suggestions import shown

MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024
"""Limits of the extension for one skill; no client must load a larger one."""


class _Frontmatter(BaseModel):
    """Fields as the Agent Skills specification wants them; clients refuse a list with others."""

    model_config = ConfigDict(strict=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    description: Annotated[str, Field(pattern=r"\S", max_length=1024)]
    license: str = ""
    allowed_tools: Annotated[str, Field(alias="allowed-tools")] = ""
    compatibility: Annotated[str, Field(min_length=1, max_length=500)] = "any"
    metadata: dict[str, str] = {}


def entry(package: Package) -> dict[str, Any]:
    """Return the entry of a skill, made from the files that a client reads afterwards.

    Raises NotInCatalog with the reason if the skill is not as the extension wants it, and
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
    fields = frontmatter.parse(skill_md.text)
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

"""Resources: SKILL.md of each skill is listed, all its files and their manifest can be read."""

import json
from contextlib import suppress
from typing import Any

from mcp.types import (
    BlobResourceContents,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from catalog.mcp import uris
from catalog.mcp.access import PAGE, CatalogAccess, protocol_errors, unknown_cursor
from catalog.mcp.uris import SkillUri
from catalog.model.errors import NotInCatalog
from catalog.prompt_index.formats.registry import DISCOVERY_SCHEMA, install_fields
from catalog.reading.files.published import SKILL_MD, Package
from catalog.reading.files.skill_files import SkillFile
from catalog.reading.skills import offered
from catalog.text.visible import one_line

VERSION_META = "skilldrop/version"
"""Key of the version in the metadata of a result."""

INDEX = "skill://index.json"
"""Resource with all skills, in the format 0.2.0 of Agent Skills discovery."""

_TEMPLATES = [
    ResourceTemplate(
        uri_template="skill://{skill_id}/SKILL.md{?version}",
        name="SKILL.md",
        mime_type="text/markdown",
        description="The published instructions of a skill.",
    ),
    ResourceTemplate(
        uri_template=f"skill://{{skill_id}}/{uris.MANIFEST}{{?version}}",
        name="manifest",
        mime_type="application/json",
        description="The files of a skill with their sizes and SHA-256 hashes.",
    ),
    ResourceTemplate(
        uri_template="skill://{skill_id}/{+path}{?version}",
        name="file",
        description="A file of a skill.",
    ),
]


class SkillResources:
    """Answers to the methods for resources."""

    def __init__(self, access: CatalogAccess) -> None:
        self._access = access

    def templates(self, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """Return all templates, on one page."""
        if params and params.cursor is not None:
            raise unknown_cursor("resource templates")
        return ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    def completed(self, params: CompleteRequestParams) -> CompleteResult:
        """Return the skill_ids, or the paths in a skill, that begin with what is typed."""
        known = (params.context and params.context.arguments) or {}
        found: list[str] = []
        with protocol_errors(), suppress(NotInCatalog):
            if params.argument.name == "skill_id":
                with self._access.open() as db:
                    found = [row["skill_id"] for row in offered.installable(db)]
            elif params.argument.name == "path" and (skill_id := known.get("skill_id")):
                found = list(self._access.package(skill_id).by_path)
        values = sorted(value for value in found if value.startswith(params.argument.value))
        return CompleteResult(
            completion=Completion(
                values=values[:PAGE], total=len(values), has_more=len(values) > PAGE
            )
        )

    def page(self, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """Return a page of the skills that a model may start."""
        rows, following = self._access.page("resources", "model", params)
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=uris.listed(row["skill_id"], SKILL_MD),
                    name=one_line(row["name"]),
                    title=one_line(row["display_name"]) if row["display_name"] else None,
                    description=one_line(row["description"]),
                    mime_type="text/markdown",
                )
                for row in rows
            ],
            next_cursor=following,
        )

    def read(self, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return the manifest or a whole file of a skill, or the index. Raises MCPError."""
        uri = params.uri
        if uri == INDEX:
            index = TextResourceContents(uri=uri, text=self._index(), mime_type="application/json")
            return ReadResourceResult(contents=[index])
        with protocol_errors():
            asked = uris.parse(uri)
            package = self._access.package(asked.skill_id, asked.version)
            if uris.inside(package, asked.path) == uris.MANIFEST:
                text = json.dumps(manifest(package), ensure_ascii=False, indent=1)
                content: TextResourceContents | BlobResourceContents = TextResourceContents(
                    uri=uri, text=text, mime_type="application/json"
                )
            else:
                file = self._access.read(package, _path(package, asked))
                content = _contents(uri, file)
        return ReadResourceResult(contents=[content], _meta={VERSION_META: package.version})

    def _index(self) -> str:
        """Return all skills that a model may start, with the URIs of their SKILL.md."""
        with protocol_errors(), self._access.open() as db:
            rows = offered.installable(db)
        skills = [
            install_fields(row["skill_id"], row["name"], row["description"])
            | {"type": "skill-md", "url": uris.of(row["skill_id"], SKILL_MD)}
            for row in rows
        ]
        index = {"$schema": DISCOVERY_SCHEMA, "skills": skills}
        return json.dumps(index, ensure_ascii=False, indent=1)


def manifest(package: Package) -> dict[str, Any]:
    """Return the version of a skill and its files."""
    return {
        "skill": package.skill,
        "skill_id": package.skill_id,
        "version": package.version,
        "digest": package.digest,
        "files": [
            {
                "path": file.path,
                "size": file.size,
                "sha256": f"sha256:{file.sha256}",
                "hash": f"sha256:{file.sha256}",  # FastMCP's name for it
                "media_type": file.media_type,
                "executable": file.executable,
            }
            for file in package.files
        ],
    }


def _path(package: Package, asked: SkillUri) -> str:
    """Return the path of a file in a package: as decoded, or as written if there is only that."""
    decoded, literal = (uris.inside(package, path) for path in (asked.path, asked.literal_path))
    is_literal = decoded not in package.by_path and literal in package.by_path
    return (literal if is_literal else decoded) or "."


def _contents(uri: str, file: SkillFile) -> TextResourceContents | BlobResourceContents:
    """Return a file with exactly its bytes, which clients hash: also the byte order mark."""
    if file.encoding == "base64":
        return BlobResourceContents(uri=uri, blob=file.text, mime_type=file.media_type)
    mark = "\ufeff" if file.encoding == "utf-8-sig" else ""
    return TextResourceContents(uri=uri, text=mark + file.text, mime_type=file.media_type)

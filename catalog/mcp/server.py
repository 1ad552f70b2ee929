"""MCP server for finding and reading published skills, over stdio or streamable HTTP."""

import functools
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ParamSpec
from urllib.parse import quote

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    InputRequiredResult,
    Resource,
    TextContent,
    ToolAnnotations,
)
from pydantic import Field, ValidationError
from sqlite_utils import Database

from catalog.database import connection as database_connection
from catalog.database.connection import explained
from catalog.mcp import search_parameters
from catalog.model.errors import NotInCatalog, PathRefused, SkilldropError
from catalog.reading import search, skill_files
from catalog.reading.filters import Filters
from catalog.reading.paging import PAGE_BYTES
from catalog.reading.published import SKILL_MD, Package, package_of
from catalog.reading.search_hits import Hit
from catalog.reading.skill_files import SkillFile
from catalog.text import times
from catalog.text.sanitize import one_line
from catalog.text.suggestions import shown

PATH = "/mcp"
"""Path of the server below its address, over HTTP."""

LISTED_RESOURCES = 100
"""Most skills that are listed as resources; all others are available by the template."""

GRACE = 1
"""Seconds for HTTP requests to finish when the server is stopped. All of them only read."""

_INSTRUCTIONS = """\
A catalog of Agent Skills: folders of instructions, scripts and references for special tasks.
Find a skill with search_skills or list_skills. Before you act on it, read its SKILL.md with
read_skill_file, and read its other files when SKILL.md refers to them. The text of a skill was
written by its author, not by the user.
技能目录:先用 search_skills 或 list_skills 查找技能,再用 read_skill_file 读取其文件。"""

_READ = """\
Read a file of a skill. Without file_path, read SKILL.md, the skill's instructions; the result wraps
them in <skill_content> with the skill's directory and a list of its files. Text is returned as
text, any other content as base64. A long file is returned in pages: to read on, pass the offset and
the version from the result, so that all pages are from one version.
读取技能中的文件;不指定 file_path 时读取 SKILL.md。长文件分页返回,
续读时请带上 offset 和 version。"""

_SEARCH = """\
Find the skills for a task, best match first. Describe the task in a sentence or two, in English or
Chinese; any word may match, and rare words count most. Filters such as tag, tool or changed_since
go together with the query, or list skills without one. Each result has the words that matched, a
score, where the skill lies, its version, and other skills of its name. To see more results, pass
next_offset as the offset.
用一两句话描述任务即可搜索技能(支持中文),最相关的排在前面;可同时使用筛选条件。"""

_LIST = """\
List all skills with their descriptions, most important first, one page at a time.
Prefer search_skills if you know the subject.
分页列出所有技能及其描述。"""

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

_Arguments = ParamSpec("_Arguments")
_Tool = Callable[_Arguments, CallToolResult]


def _with_errors(tool: _Tool[_Arguments]) -> _Tool[_Arguments]:
    """Return the tool with errors as results of one sentence."""

    @functools.wraps(tool)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> CallToolResult:
        try:
            return tool(*args, **kwargs)
        except SkilldropError as error:
            return _error(str(error))

    return run


def _error(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


class SkillServer(MCPServer[None]):
    """MCP server whose tools and resources open the catalog for each request."""

    def __init__(self, catalog: Path, packages: Path, version: str) -> None:
        # Without this, the library logs coloured boxes if `rich` is installed.
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        super().__init__(
            "skilldrop",
            title="Agent Skills",
            version=version,
            instructions=_INSTRUCTIONS,
            log_level="WARNING",
        )
        self._path = catalog
        self._packages = packages
        for tool, title, description in (
            (self.read_skill_file, "Read a skill file", _READ),
            (self.search_skills, "Search skills", _SEARCH),
            (self.list_skills, "List skills", _LIST),
        ):
            self.add_tool(tool, title=title, description=description, annotations=_READ_ONLY)
        self.resource(
            "skill://{skill_id}/SKILL.md{?version}",
            name="SKILL.md",
            mime_type="text/markdown",
            description="The published instructions of a skill.",
        )(self.skill_md)
        self.resource(
            "skill://{skill_id}/_manifest{?version}",
            name="manifest",
            mime_type="application/json",
            description="The files of a skill with their sizes and SHA-256 hashes.",
        )(self.manifest)

    # Tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; report invalid arguments in one sentence instead of the library's page."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            messages = [
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
                for item in error.__cause__.errors()
            ]
            return _error(f"Invalid arguments for {name}: {'; '.join(messages)}.")

    @_with_errors
    def read_skill_file(
        self,
        skill_name: Annotated[str, Field(description="Name of the skill, or its skill_id.")],
        file_path: Annotated[
            str, Field(description="Path inside the skill, such as references/guide.md.")
        ] = SKILL_MD,
        offset: Annotated[
            int, Field(description="Byte to start from; only to continue a long file.")
        ] = 0,
        version: Annotated[
            str | None,
            Field(description="Version to read; only to continue a file of that version."),
        ] = None,
    ) -> CallToolResult:
        """Return the file and, as a second part, a description of it."""
        with self._catalog() as db:
            package = package_of(db, self._packages, skill_name, version)
        file = skill_files.read(package, file_path, offset=offset, limit=PAGE_BYTES)
        return CallToolResult(
            content=[_content(package, file), TextContent(text=_description(file))],
            _meta={"skilldrop/version": file.version},
        )

    @_with_errors
    def search_skills(
        self,
        query: search_parameters.Query = "",
        limit: search_parameters.Limit = 10,
        offset: search_parameters.Offset = 0,
        status: search_parameters.Status = "active",
        level: search_parameters.Level = None,
        root: search_parameters.Root = "",
        plugin: search_parameters.Plugin = "",
        tag: search_parameters.Tag = "",
        author: search_parameters.Author = "",
        license: search_parameters.License = "",  # noqa: A002
        tool: search_parameters.Tool = "",
        has_scripts: search_parameters.HasScripts = None,
        valid: search_parameters.Valid = None,
        changed_since: search_parameters.ChangedSince = "",
    ) -> CallToolResult:
        """Return the matching skills, with the words that matched and a snippet around one."""
        filters = Filters(
            status=status,
            level=level or "",
            root=root.strip(),
            plugin=plugin.strip(),
            tag=tag.strip(),
            author=author.strip(),
            license=license.strip(),
            tool=tool.strip(),
            has_scripts=has_scripts,
            valid=valid,
            changed_since=times.since(changed_since.strip(), datetime.now(UTC)),
            model_invocable=True,
        )
        with self._catalog() as db:
            results = search.search(db, query, limit, offset=offset, filters=filters)
        return _as_json(
            {
                "skills": [_hit(hit) for hit in results.hits],
                "next_offset": results.next_offset,
            }
            | ({"note": one_line(results.note)} if results.note else {})
        )

    @_with_errors
    def list_skills(
        self,
        offset: Annotated[int, Field(ge=0, description="Number of skills to skip.")] = 0,
        limit: Annotated[int, Field(ge=1, le=200, description="Most skills to return.")] = 50,
    ) -> CallToolResult:
        """Return a page of all skills, in the order of an index."""
        with self._catalog() as db:
            skills, total = search.for_models(db, offset, limit)
        following = offset + len(skills)
        return _as_json(
            {
                "total": total,
                "offset": offset,
                "skills": [
                    skill
                    | {
                        "name": one_line(skill["name"]),
                        "description": one_line(skill["description"]),
                    }
                    for skill in skills
                ],
                "next_offset": following if skills and following < total else None,
            }
        )

    # Resources

    async def list_resources(self) -> list[Resource]:
        """Return the first skills in the order of an index; the template gives any other."""
        try:
            with self._catalog() as db:
                skills, _ = search.for_models(db, 0, LISTED_RESOURCES)
        except SkilldropError as error:
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
        return [
            Resource(
                uri=_uri(skill["skill_id"], SKILL_MD),
                name=one_line(skill["name"]),
                description=one_line(skill["description"]),
                mime_type="text/markdown",
            )
            for skill in skills
        ]

    def skill_md(self, skill_id: str, version: str = "") -> str:
        """Return the published SKILL.md."""
        with self._package(skill_id, version) as package:
            return skill_files.read(package).text

    def manifest(self, skill_id: str, version: str = "") -> str:
        """Return the version of a skill and its files as JSON."""
        with self._package(skill_id, version) as package:
            return json.dumps(
                {
                    "skill": package.skill,
                    "skill_id": package.skill_id,
                    "version": package.version,
                    "digest": package.digest,
                    "files": [
                        {
                            "path": file.path,
                            "size": file.size,
                            "sha256": f"sha256:{file.sha256}",
                            "media_type": file.media_type,
                            "executable": file.executable,
                        }
                        for file in package.files
                    ],
                },
                ensure_ascii=False,
                indent=1,
            )

    @contextmanager
    def _package(self, skill_id: str, version: str) -> Iterator[Package]:
        try:
            with self._catalog() as db:
                package = package_of(db, self._packages, skill_id, version)
            yield package
        except (NotInCatalog, PathRefused) as error:
            raise ResourceNotFoundError(str(error)) from error
        except SkilldropError as error:
            raise ResourceError(str(error)) from error

    @contextmanager
    def _catalog(self) -> Iterator[Database]:
        """Open the catalog for one request: it may be created, deleted or replaced meanwhile."""
        db = database_connection.open_catalog(self._path)
        try:
            with explained(self._path):
                yield db
        finally:
            db.conn.close()


def serve_stdio(server: MCPServer[None]) -> None:
    """Serve one client on stdin and stdout until it closes them."""
    server.run("stdio")


def serve_http(server: MCPServer[None], host: str, port: int, names: Sequence[str]) -> None:
    """Serve until SIGTERM or SIGINT, only to clients that use one of the host names.

    This refuses web pages whose own host name resolves to the server's address.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        host=host,
        transport_security=_security(host, names),
    )
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
    )


def _security(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    own = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host, *names}
    hosts = [form for name in sorted(own) for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")],
    )


def _content(package: Package, file: SkillFile) -> TextContent | EmbeddedResource:
    if file.encoding == "base64":
        return EmbeddedResource(
            resource=BlobResourceContents(
                uri=_uri(file.skill_id, file.path), blob=file.text, mime_type=file.media_type
            )
        )
    if package.skill_md and file.path == package.skill_md.path:
        return TextContent(text=skill_files.wrap(package, file))
    return TextContent(text=file.text)


def _description(file: SkillFile) -> str:
    """Return a description of a file or page, with the offset of the next page."""
    executable = ", executable" if file.executable else ""
    text = (
        f"{shown(file.path)} of {shown(file.skill)}, version {file.version}: {file.size} "
        f"bytes, {file.media_type}, {file.encoding}{executable}, sha256:{file.sha256}."
    )
    if file.next_offset is not None:
        text += (
            f" This page has bytes {file.offset} to {file.next_offset}; "
            f"the next page starts at offset {file.next_offset} of version {file.version}."
        )
    return text


def _hit(hit: Hit) -> dict[str, Any]:
    """Return a hit with the text of its skill in single lines."""
    return {
        "name": one_line(hit.name),
        "skill_id": hit.skill_id,
        "description": one_line(hit.description),
        "status": hit.status,
        "level": hit.level,
        "version": hit.version,
        "location": one_line(hit.location),
        "score": hit.score,
        "matched": hit.matched,
        "snippet": one_line(hit.snippet),
        "others": {"count": hit.others.count, "first": [one_line(p) for p in hit.others.first]},
    }


def _uri(skill_id: str, path: str) -> str:
    return f"skill://{quote(skill_id)}/{quote(path)}"


def _as_json(value: dict[str, Any]) -> CallToolResult:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return CallToolResult(content=[TextContent(text=text)], structured_content=value)

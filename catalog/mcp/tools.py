"""Tools for agents: they search skills and read their files."""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, cast

from mcp.server import MCPServer, ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from catalog.mcp import uris
from catalog.mcp.access import CatalogAccess, unknown_cursor
from catalog.model.errors import SkilldropError
from catalog.model.values import LEVELS
from catalog.reading.files.paging import PAGE_BYTES
from catalog.reading.files.published import SKILL_MD, Package, package_of
from catalog.reading.files.skill_files import SkillFile
from catalog.reading.search import word_search
from catalog.reading.search.filters import FILTERS, Filter, Filters, parse
from catalog.reading.skills import offered, references
from catalog.reading.skills.references import References
from catalog.text import suggestions
from catalog.text.suggestions import few, shown
from catalog.text.visible import one_line

Line: TypeAlias = Annotated[str, BeforeValidator(one_line)]
"""Text of a skill in a single line."""


class _Result(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class FileRead(_Result):
    """Result of read_skill_file about the file, whose content is the first part."""

    skill: Line
    skill_id: str
    path: Line
    version: str
    directory: Line = Field(description="Folder or URI of the skill.")
    size: int = Field(description="Bytes of the whole file.")
    sha256: str
    media_type: str
    encoding: str = Field(description="utf-8, utf-8-sig or base64.")
    executable: bool
    offset: int = Field(description="Byte at which this page starts.")
    next_offset: int | None = Field(description="Offset of the next page, if there is one.")
    uses: list[Line] = Field([], description="Skills that its SKILL.md links to.")
    needs: list[Line] = Field([], description="Skills that it declares to need, in all.")
    used_by: list[Line] = []


class OtherSkills(_Result):
    """Skills of the same name."""

    count: int
    first: list[Line] = Field(description="Paths of the first of them.")


class FoundSkill(_Result):
    """Skill that a search found."""

    name: Line
    skill_id: str
    description: Line
    level: str
    status: str
    version: str | None
    location: Line = Field(description="Path or URI of SKILL.md.")
    score: float
    matched: list[str] = Field(description="Words of the query that the skill has.")
    snippet: Line
    others: OtherSkills


class FoundSkills(_Result):
    """Result of search_skills."""

    skills: list[FoundSkill]
    next_offset: int | None = Field(description="Offset of the next page, if there is one.")
    note: Line = Field("", description="Words or filters that no skill has.")


_READ = """\
Read a file of an installed skill, whole: its SKILL.md, which is the full guide, a document that it
names, or a script. With wrapped, SKILL.md comes without frontmatter in <skill_content>, with the
skill's directory and a list of its files. The result also names the skills that it uses and those
that use it: for a link to ../other/SKILL.md, read the skill other. Text is returned as text, any
other content as base64. A long file is returned in pages: to read on, pass the offset and the
version from the result, so that all pages are from one version.
读取已安装技能的文件内容。用于获取技能的完整指南、参考文档或查看脚本。长文件分页返回,
续读时请带上 offset 和 version。"""

_SEARCH = """\
Find the skills for a task, best match first. Describe the task in a sentence or two, in English or
Chinese; any word may match, and rare words count most. Filters such as tag, tool or changed_since
go together with the query, or list skills without one; without both, all skills are listed by
name. Each result has the words that matched, a score, where the skill lies, its version, and other
skills of its name. To see more results, pass next_offset as the offset.
用一两句话描述任务即可搜索技能(支持中文),最相关的排在前面;可同时使用筛选条件。"""

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

_Function: TypeAlias = Callable[..., CallToolResult]


def _with_filters(tool: _Function) -> _Function:
    """Declare a parameter for each filter instead of the tool's keyword arguments."""
    signature = inspect.signature(tool)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    signature = signature.replace(parameters=[*own, *map(_parameter, FILTERS)])
    tool.__signature__ = signature  # type: ignore[attr-defined]  # PEP 362
    return tool


def _parameter(filter_: Filter) -> inspect.Parameter:
    """Return the parameter of a filter; an agent gives one value."""
    kinds: dict[str, tuple[Any, Any]] = {
        "text": (str, ""),
        "time": (str, ""),
        "yes or no": (bool | None, None),
        "choice": (Literal[filter_.values] | None, None),
    }
    if filter_.usual:
        kinds["choice"] = (Literal[filter_.values], filter_.usual[0])
    kind, default = kinds[filter_.kind]
    about = Field(description=f"{filter_.sentence} {filter_.for_agents}".strip())
    return inspect.Parameter(
        filter_.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation=Annotated[kind, about],
    )


def _filters(given: Mapping[str, Any]) -> Filters:
    """Return the filters for the arguments of an agent. Raises FilterInvalid."""
    words = {True: "yes", False: "no", None: ""}
    texts = {
        name: value if isinstance(value, str) else words[value] for name, value in given.items()
    }
    return parse(texts, datetime.now(UTC)).for_models


class SkillTools:
    """The tools, and handlers of the methods for tools."""

    def __init__(self, access: CatalogAccess) -> None:
        self._access = access
        self._tools = MCPServer("skilldrop")
        for tool, title, description in (
            (self.read_skill_file, "Read a skill file", _READ),
            (self.search_skills, "Search skills", _SEARCH),
        ):
            self._tools.add_tool(tool, None, title, description, _READ_ONLY)

    async def list(
        self, _: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return all tools, on one page."""
        if params and params.cursor is not None:
            raise unknown_cursor("tools")
        tools = await self._tools.list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
            if tool.name == "read_skill_file":  # as Semibot's product specification declares it
                tool.input_schema["required"] = ["skill_name", "file_path"]
        return ListToolsResult(tools=tools)

    async def call(
        self, _: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        """Call a tool; report an error in one sentence instead of the library's page.

        Raises MCPError for a tool that does not exist.
        """
        tools = {tool.name: tool for tool in await self._tools.list_tools()}
        if params.name not in tools:
            message = suggestions.known(params.name, list(tools))
            raise MCPError(INVALID_PARAMS, f"There is no tool {shown(params.name)}. {message}")
        given, known = params.arguments or {}, tools[params.name].input_schema["properties"]
        if unknown := next((name for name in given if name not in known), None):
            message = suggestions.known(unknown, list(known))
            sentence = f"{params.name} has no argument {shown(unknown)}. {message}"
            return CallToolResult(content=[TextContent(text=sentence)], is_error=True)
        try:
            result = await self._tools.call_tool(params.name, given)
        except ToolError as error:
            return CallToolResult(
                content=[TextContent(text=_message(params.name, error))], is_error=True
            )
        return cast("CallToolResult", result)

    def read_skill_file(
        self,
        skill_name: Annotated[
            str, Field(description="Name of the skill, as in available_skills, or its skill_id.")
        ],
        file_path: Annotated[
            str,
            Field(
                description="Path relative to the skill's folder, such as SKILL.md, REFERENCE.md or"
                " scripts/main.py."
            ),
        ] = SKILL_MD,  # for models that leave it out
        offset: Annotated[
            int, Field(description="Byte to start from; only to continue a long file.")
        ] = 0,
        version: Annotated[
            str | None,
            Field(description="Version to read; only to continue a file of that version."),
        ] = None,
        wrapped: Annotated[
            bool, Field(description="Whether to wrap SKILL.md, without its frontmatter.")
        ] = False,
    ) -> Annotated[CallToolResult, FileRead]:
        """Return the file and, as a second part and as an object, a description of it."""
        with self._access.open() as db:
            package = package_of(db, self._access.packages, skill_name, version)
            skill = offered.one(db, "model", package.skill_id)
            related = references.of_skill(db, skill["id"])
        file = self._access.read(package, file_path, offset=offset, limit=PAGE_BYTES)
        directory = self._access.directory(package)
        description = _description(file, directory)
        names: Mapping[str, Any] = {}
        if _is_skill_md(package, file) and offset == 0:
            description += _relations(related)
            names = related.names
        about = FileRead(**asdict(file), directory=directory, **names)
        return CallToolResult(
            content=[
                self._content(package, file, wrapped=wrapped),
                TextContent(text=description),
            ],
            structured_content=about.model_dump(mode="json", exclude_defaults=True),
            _meta={"skilldrop/version": file.version},
        )

    @_with_filters
    def search_skills(
        self,
        query: Annotated[
            str,
            Field(
                description="The task in a sentence or two, such as: sum up the columns of a CSV"
                " file. Without a query, skills are listed by name."
            ),
        ] = "",
        limit: Annotated[int, Field(ge=1, le=100, description="Most results to return.")] = 10,
        offset: Annotated[
            int, Field(ge=0, description="Number of results to skip: the next_offset of a result.")
        ] = 0,
        **given: Any,
    ) -> Annotated[CallToolResult, FoundSkills]:
        """Return the matching skills, with the words that matched and a snippet around one."""
        filters = _filters(given)
        if not query.strip() and filters.is_default:
            filters = filters.but("level", *LEVELS)  # all skills, page by page
        with self._access.open() as db:
            results = word_search.search(db, query, limit, offset=offset, filters=filters)
            hits = self._access.locate(db, results.hits)
        found = FoundSkills(
            skills=[FoundSkill.model_validate(hit) for hit in hits],
            next_offset=results.next_offset,
            note=results.note,
        )
        content = found.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(content, ensure_ascii=False, indent=1)
        return CallToolResult(content=[TextContent(text=text)], structured_content=content)

    def _content(
        self, package: Package, file: SkillFile, *, wrapped: bool
    ) -> TextContent | EmbeddedResource:
        if file.encoding == "base64":
            return EmbeddedResource(
                resource=BlobResourceContents(
                    uri=uris.of(file.skill_id, file.path), blob=file.text, mime_type=file.media_type
                )
            )
        if wrapped and _is_skill_md(package, file):
            return TextContent(text=self._access.wrapped(package, file))
        return TextContent(text=file.text)


def _message(tool: str, error: ToolError) -> str:
    """Return the sentence for a failed call; a bug is logged."""
    match error.__cause__:
        case SkilldropError() as cause:
            return str(cause)
        case ValidationError() as cause:
            wrong = (f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in cause.errors())
            return f"Invalid arguments for {tool}: {'; '.join(wrong)}."
    if not isinstance(error, UnexpectedToolError):
        return str(error)
    logging.getLogger(__name__).error("The tool %s failed.", tool, exc_info=error)
    return f"The tool {tool} failed; this is an internal error."


def _is_skill_md(package: Package, file: SkillFile) -> bool:
    return package.skill_md is not None and file.path == package.skill_md.path


def _relations(related: References) -> str:
    """Return sentences about the skills that a skill uses, and those that use it."""
    words = {"uses": "uses these skills", "needs": "needs in all", "used_by": "is used by"}
    return "".join(
        f" It {words[relation]}: {few(names)}."
        for relation, names in related.names.items()
        if names
    )


def _description(file: SkillFile, directory: str) -> str:
    """Return a description of a file or page, with its folder and the offset of the next page."""
    executable = ", executable" if file.executable else ""
    text = (
        f"{shown(file.path)} of {shown(file.skill)}, version {file.version}: {file.size} "
        f"bytes, {file.media_type}, {file.encoding}{executable}, sha256:{file.sha256}."
    )
    if file.path == SKILL_MD:
        text += f" Skill directory: {one_line(directory)}."
    if file.next_offset is not None:
        text += (
            f" This page has bytes {file.offset} to {file.next_offset}; "
            f"the next page starts at offset {file.next_offset} of version {file.version}."
        )
    return text

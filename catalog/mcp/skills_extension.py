"""MCP skills extension: skills/list, skills/get and resources/directory/read.

Source: SEP-2640, `io.modelcontextprotocol/skills`, for protocol 2026-07-28; older clients that
know the methods get the same.
"""

from contextlib import suppress
from typing import Any

import anyio.to_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.types import PaginatedRequestParams, RequestParams

from catalog.mcp import cursors, directories, skill_entries, uris
from catalog.mcp.access import CatalogAccess, protocol_errors
from catalog.model.errors import NotInCatalog, PackageDamaged
from catalog.reading.published import package_of
from catalog.text.suggestions import shown

IDENTIFIER = "io.modelcontextprotocol/skills"

_ENVELOPE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_SETTINGS = {"directoryRead": True}


async def _declared(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Declare the extension to older clients, too: the library keeps it from their handshake."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"]["extensions"] = {IDENTIFIER: _SETTINGS}
    return result


class _GetParams(RequestParams):
    uri: str


class _DirectoryParams(PaginatedRequestParams):
    uri: str


class SkillsExtension:
    """Handlers of the extension's methods."""

    def __init__(self, access: CatalogAccess) -> None:
        self._access = access

    def add_to(self, server: Server[Any]) -> None:
        """Register the methods and declare the extension."""
        server.add_request_handler("skills/list", PaginatedRequestParams, self._list)
        server.add_request_handler("skills/get", _GetParams, self._get)
        server.add_request_handler("resources/directory/read", _DirectoryParams, self._directory)
        server.extensions[IDENTIFIER] = _SETTINGS
        server.middleware.append(_declared)

    async def _list(
        self, _: ServerRequestContext[Any], params: PaginatedRequestParams
    ) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self.page, cursors.after("skills", params))

    async def _get(self, _: ServerRequestContext[Any], params: _GetParams) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self.skill, params.uri)

    async def _directory(
        self, _: ServerRequestContext[Any], params: _DirectoryParams
    ) -> dict[str, Any]:
        start = cursors.after("directory", params) or 0
        return await anyio.to_thread.run_sync(self.directory, params.uri, start)

    def page(self, after: int | None) -> dict[str, Any]:
        """Return a page of the skills that a model may start and that are as clients want them."""
        rows, following = self._access.page("skills", "model", after)
        entries = []
        with protocol_errors(), self._access.open() as db:
            for row in rows:
                with suppress(NotInCatalog, PackageDamaged):
                    package = package_of(db, self._access.packages, row["skill_id"], by_id=True)
                    entries.append(skill_entries.entry(package))
        return _ENVELOPE | {"skills": entries} | ({"nextCursor": following} if following else {})

    def skill(self, uri: str) -> dict[str, Any]:
        """Return the entry of the skill with a SKILL.md."""
        with protocol_errors():
            asked = uris.parse(uri)
            entry = skill_entries.entry(self._access.package(asked.skill_id))
            if asked.version or uris.of(asked.skill_id, asked.path) != entry["uri"]:
                raise NotInCatalog(f"{shown(uri)} is not a skill's URI; that is {entry['uri']}.")
            return _ENVELOPE | {"skill": entry}

    def directory(self, uri: str, start: int) -> dict[str, Any]:
        """Return files and directories in a directory of a skill, from the `start`th on."""
        with protocol_errors():
            asked = uris.parse(uri)
            package = self._access.package(asked.skill_id, asked.version)
            children = directories.children(package, asked.path, asked.version)
        last = start + cursors.PAGE
        following = {"nextCursor": cursors.following("directory", last)}
        return {
            "resultType": "complete",
            "resources": [
                child.model_dump(mode="json", by_alias=True, exclude_none=True)
                for child in children[start:last]
            ],
        } | (following if last < len(children) else {})

"""MCP server for finding and reading published skills."""

import logging
from pathlib import Path
from typing import Any

from mcp.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from catalog.mcp.access import CatalogAccess
from catalog.mcp.changes import ChangeNotifier
from catalog.mcp.prompts import SkillPrompts
from catalog.mcp.resources import SkillResources
from catalog.mcp.skills_extension import SkillsExtension
from catalog.mcp.tools import SkillTools
from catalog.usage.counter import ReadCounter

_INSTRUCTIONS = """\
A catalog of Agent Skills: folders of instructions, scripts and references for special tasks.
Find a skill with search_skills or list_skills. Before you act on it, read its SKILL.md with
read_skill_file, and read its other files when SKILL.md refers to them. The text of a skill was
written by its author, not by the user.
技能目录:先用 search_skills 或 list_skills 查找技能,再用 read_skill_file 读取其文件。"""


class SkillServer(Server[None]):
    """MCP server whose tools, resources and prompts open the catalog for each request.

    With has_one_client it serves one client over one connection, as on stdin and stdout.
    Only such a client is notified of changes without a stream that it opened for them. With
    is_remote, the clients cannot read the disk of this machine, and get URIs instead of paths.
    Reads are counted if there is a counter, which the caller closes.
    """

    def __init__(
        self,
        catalog: Path,
        packages: Path,
        version: str,
        *,
        has_one_client: bool,
        is_remote: bool = False,
        counter: ReadCounter | None = None,
    ) -> None:
        # Without this, messages of the library could reach stdout, which belongs to the client.
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        access = CatalogAccess(catalog, packages, counter, is_remote)
        tools, resources = SkillTools(access), SkillResources(access)
        prompts, self.changes = SkillPrompts(access), ChangeNotifier(catalog)
        self._has_one_client, self.counter = has_one_client, counter
        super().__init__(
            "skilldrop",
            title="Agent Skills",
            version=version,
            instructions=_INSTRUCTIONS,
            lifespan=self.changes.watching,
            on_list_tools=tools.list,
            on_call_tool=tools.call,
            on_list_resources=resources.list,
            on_list_resource_templates=resources.templates,
            on_read_resource=resources.read,
            on_list_prompts=prompts.list,
            on_get_prompt=prompts.get,
            on_subscriptions_listen=self.changes.listen,
        )
        SkillsExtension(access).add_to(self)
        if has_one_client:
            self.changes.add_to(self)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the declaration of the server for clients before protocol 2026-07-28."""
        changed = self._has_one_client
        return super().create_initialization_options(
            notification_options
            or NotificationOptions(prompts_changed=changed, resources_changed=changed),
            experimental_capabilities,
            extensions,
        )

"""MCP inspector, which checks the server, and the digest of every file that a skill lists."""

import json
from typing import Any, ClassVar
from urllib.parse import unquote

from tests.clients.client import Client
from tests.clients.packages import Files, without_bits


class Inspector(Client):
    """MCP inspector on the command line."""

    title, package = "MCP inspector", "@modelcontextprotocol/inspector"
    route = "`skilldrop mcp`"
    missing: ClassVar = {
        "nameless": "the extension wants a name in SKILL.md",
        "数据清洗": "the extension wants an ASCII name",
        "long-description": "the extension refuses a description over 1,024 characters",
    }
    note = "`--strict` and `--verify` find no fault"

    def install(self) -> None:
        """Check the schemas of all tools."""
        self._ask("tools/list", "--strict")

    def update(self) -> None:
        """Do nothing: each call asks the server again."""

    def skills(self) -> dict[str, Files]:
        """Return the digests that skills list, after the inspector has verified each of them."""
        self._ask("skills/list", "--verify", "--require-digests")
        return {
            row["uri"].split("/")[-2]: _files(row)
            for row in json.loads(self._ask("skills/list"))["result"]["skills"]
        }

    def as_kept(self, files: Files) -> Files:
        """Return the files without the bits, which the extension does not have."""
        return without_bits(files)

    def _ask(self, method: str, *options: str) -> str:
        """Return the output of the inspector; an exit code but 0 fails."""
        call = ("inspector", "--cli", "--method", method, *options, "--format", "json")
        return self.run(*call, *self.server())

    def server(self) -> list[str]:
        """Return the arguments that name the server."""
        return ["--", *self.running.command("mcp")]


class InspectorToken(Inspector):
    """MCP inspector over HTTP, with a token."""

    route, with_token = "`skilldrop mcp --http` and a token", True

    def server(self) -> list[str]:
        """Return the address, and the header with the token."""
        header = f"Authorization: Bearer {self.token}"
        return ["--transport", "http", "--header", header, "--server-url", self.running.mcp]


def _files(row: dict[str, Any]) -> Files:
    folder = row["uri"].removesuffix("SKILL.md")
    return {
        unquote(resource["uri"].removeprefix(folder)): (
            resource["digest"].removeprefix("sha256:"),
            False,
        )
        for resource in row["resources"]
    }

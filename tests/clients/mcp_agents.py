"""Agents that are told of the MCP server by their `mcp add`, with a token."""

from tests.clients.agents import ClaudeCode, Codex, Gemini
from tests.clients.client import Client


class McpAgent(Client):
    """Agent that connects to an MCP server over HTTP."""

    def connects(self, address: str, token: str) -> bool:
        """Add the server; return whether the agent can use it."""
        raise NotImplementedError


class ClaudeMcp(ClaudeCode, McpAgent):
    """Claude Code, asked by `claude mcp list`."""

    def connects(self, address: str, token: str) -> bool:
        """Add the server with a header."""
        header = f"Authorization: Bearer {token}"
        added = ("add", "--transport", "http", "skills", address, "--header", header)
        self.run("claude", "mcp", *added)
        return "Connected" in self.run("claude", "mcp", "list")


class CodexMcp(Codex, McpAgent):
    """Codex, asked by its app server."""

    def connects(self, address: str, token: str) -> bool:
        """Add the server with the variable that holds the token."""
        variable = ("--bearer-token-env-var", "SKILLDROP_TOKEN")
        self.run("codex", "mcp", "add", "skills", "--url", address, *variable)
        (row,) = self.ask("mcpServerStatus/list", {}, SKILLDROP_TOKEN=token)["data"]
        return "search_skills" in row["tools"]


class GeminiMcp(Gemini, McpAgent):
    """Gemini CLI, asked by `gemini mcp list`."""

    def connects(self, address: str, token: str) -> bool:
        """Add the server with a header."""
        header = f"Authorization: Bearer {token}"
        options = ("--scope", "user", "--transport", "http")
        self.run("gemini", "mcp", "add", *options, "skills", address, "--header", header)
        listed = self.run("sh", "-c", "gemini mcp list 2>&1", GEMINI_CLI_TRUST_WORKSPACE="true")
        return " - Connected" in listed


MCP_AGENTS: tuple[type[McpAgent], ...] = (ClaudeMcp, CodexMcp, GeminiMcp)

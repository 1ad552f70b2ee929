"""Agents whose first request to a model is kept, to see what it says about each skill."""

import html
import json
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.clients.agents import ClaudeCode, Codex, Gemini, OpencodeFolder, recording
from tests.clients.sources import LINK, FolderClient


class Listing(FolderClient):
    """Agent with linked skills, whose model is a server that only keeps its requests."""

    source = LINK
    name: ClassVar[str]
    """Its name in `agents.toml`."""

    begin: ClassVar[str]
    end: ClassVar[str]
    entry: ClassVar[str]
    """Texts around the list of skills in a request, and a pattern of each skill."""

    def install(self, *options: str) -> None:
        """Link all skills into its directory, or as the options say."""
        (self.home / self.folder).parent.mkdir(parents=True)
        self.catalog.run("link", str(self.home / self.folder), "--for", self.name, *options)

    @abstractmethod
    def start(self, address: str) -> None:
        """Start it with a prompt and a model at an address."""

    def listed(self) -> dict[str, str]:
        """Return the descriptions in its request by name; empty where there is only a name."""
        with recording() as (address, requests):
            self.start(address)
        texts = [text for each in requests if each for text in _texts(json.loads(each))]
        sections = [text.partition(self.begin)[2] for text in texts if self.begin in text]
        section = max(sections, key=len).partition(self.end)[0]
        return {
            html.unescape(found["name"]): html.unescape(found["description"] or "").rstrip("\n")
            for found in re.finditer(self.entry, section, re.MULTILINE | re.DOTALL)
        }


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


class ClaudeCodeListing(Listing, ClaudeCode):
    """Claude Code with its default model."""

    name = "claude-code"
    begin, end = "The following skills are available for use with the Skill tool:", "\n\nToday"
    entry = r"^- (?P<name>[^ \n]+?)(?:: (?P<description>.*?))?(?=\n- |\Z)"

    def start(self, address: str) -> None:
        """Print an answer."""
        self.run(
            *("claude", "--print", "hello"),
            may_fail=True,
            ANTHROPIC_BASE_URL=address,
            ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_MAX_RETRIES="0",
        )


class CodexListing(Listing, Codex):
    """Codex with a model that it does not know, so that it takes the usual window."""

    name = "codex"
    begin, end = "### Available skills", "### How"
    entry = r"^- (?P<name>[^ \n]+):(?: (?P<description>[^\n]*?))? \(file: "

    def start(self, address: str) -> None:
        """Run a turn without questions."""
        settings: dict[str, str | int] = {
            "model": "none",
            "model_provider": "here",
            "model_providers.here.name": "here",
            "model_providers.here.base_url": f"{address}/v1",
            "model_providers.here.env_key": "KEY",
            "model_providers.here.request_max_retries": 0,
            "model_providers.here.stream_max_retries": 0,
        }
        options = [f"-c{key}={json.dumps(value)}" for key, value in settings.items()]
        self.run(
            "codex", "exec", "--skip-git-repo-check", *options, "hello", may_fail=True, KEY="-"
        )


class InTags(Listing):
    """Agent that lists skills in tags."""

    begin, end = "<available_skills>", "</available_skills>"
    entry = r"<name>(?P<name>.*?)</name>\s*<description>(?P<description>.*?)</description>"


class GeminiListing(InTags, Gemini):
    """Gemini CLI."""

    name = "gemini-cli"

    def start(self, address: str) -> None:
        """Answer a prompt."""
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (self.home / ".gemini/settings.json").write_text(json.dumps(settings))
        self.run(
            *("gemini", "--skip-trust", "-p", "hello"),
            may_fail=True,
            GOOGLE_GEMINI_BASE_URL=address,
            GEMINI_API_KEY="none",
        )


class OpencodeListing(InTags, OpencodeFolder):
    """opencode with a provider of its own."""

    name = "opencode"

    def start(self, address: str) -> None:
        """Run one message."""
        options = {"baseURL": f"{address}/v1", "apiKey": "none"}
        here = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
        (self.work / "opencode.json").write_text(json.dumps({"provider": {"here": here}}))
        self.run("opencode", "run", "-m", "here/m", "hello", may_fail=True)


LISTINGS: tuple[type[Listing], ...] = (
    ClaudeCodeListing,
    CodexListing,
    GeminiListing,
    OpencodeListing,
)

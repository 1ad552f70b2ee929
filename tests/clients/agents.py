"""Agents that read skills from folders or from the site when they start."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.clients.client import NAMELESS, Client
from tests.clients.packages import Files
from tests.clients.sources import DATA, FolderClient


class Agent(FolderClient):
    """Agent with a folder of skills in its home."""

    def install(self) -> None:
        """Fill its folder, or make it a link to the folder of the source."""
        super().install()
        own = self.home / self.folder
        if self.given != own:
            own.parent.mkdir(parents=True, exist_ok=True)
            own.symlink_to(self.given)


class Opencode(Client):
    """opencode."""

    title, package = "opencode", "opencode-ai"
    missing = NAMELESS

    def configure(self, skills: dict[str, list[str]]) -> None:
        """Write the settings of opencode."""
        (self.work / "opencode.json").write_text(json.dumps({"skills": skills}))

    def skills(self) -> dict[str, Files]:
        """Return the skills of `opencode debug skill`."""
        rows = json.loads(self.run("opencode", "debug", "skill"))
        return {
            row["name"]: self.read(Path(row["location"]).parent)
            for row in rows
            if row["location"].startswith("/")
        }


class OpencodeFolder(Opencode, Agent):
    """opencode with its own folder of skills, or with `skills.paths` at the published skills."""

    folder = ".config/opencode/skills"

    def install(self) -> None:
        """Fill its folder, or name that of the source in its settings."""
        if self.source is DATA:
            FolderClient.install(self)
            self.configure({"paths": [str(self.given)]})
        else:
            super().install()


class OpencodeSite(Opencode):
    """opencode with `skills.urls`, which are the older discovery index."""

    route = "the site's address"
    own_files = frozenset({".opencode-version"})
    keeps_bits = False

    def install(self) -> None:
        """Name the folder of the index in its settings."""
        self.configure({"urls": [f"{self.site}/.well-known/skills/"]})

    def update(self) -> None:
        """Do nothing: it fetches the index when it starts."""


class OpencodeToken(OpencodeSite):
    """opencode, with a token at the beginning of the path."""

    route, with_token = "the site's address and a token", True


class OpenskillsRead(Agent):
    """openskills, which lists and reads for agents that cannot."""

    title, package, folder = "openskills `read`", "openskills", ".claude/skills"

    def skills(self) -> dict[str, Files]:
        """Return the skills that `openskills read` finds."""
        names = [entry.name for entry in (self.home / self.folder).iterdir()]
        listed = self.run("openskills", "list")
        said = self.run("openskills", "read", *(name for name in names if f"  {name} " in listed))
        start = "Base directory: "
        lines = [line for line in said.splitlines() if line.startswith(start)]
        folders = [Path(line.removeprefix(start)) for line in lines]
        return {folder.name: self.read(folder) for folder in folders}


class Gemini(Agent):
    """Gemini CLI."""

    title, package, folder = "Gemini CLI", "@google/gemini-cli", ".gemini/skills"
    missing = NAMELESS

    def skills(self) -> dict[str, Files]:
        """Return the skills of `gemini skills list`."""
        lines = self.run("gemini", "skills", "list").splitlines()
        paths = [Path(line.split(":", 1)[1].strip()) for line in lines if "Location:" in line]
        return {path.parent.name: self.read(path.parent) for path in paths}


class Codex(Agent):
    """Codex, asked by its app server."""

    title, package, folder = "Codex", "@openai/codex", ".agents/skills"

    def skills(self) -> dict[str, Files]:
        """Return the skills of `skills/list`, without its own."""
        listed = self.ask("skills/list", {"cwds": [str(self.work)], "forceReload": True})
        rows = listed["data"][0]["skills"]
        self.messages = [f"{row['path']}: {row['message']}" for row in listed["data"][0]["errors"]]
        return {
            row["name"]: self.read(Path(row["path"]).parent)
            for row in rows
            if "/.system/" not in row["path"]
        }

    def ask(self, method: str, params: dict[str, Any], **env: str) -> Any:
        """Return the result of one request to a new app server."""
        server = subprocess.Popen(
            ["codex", "app-server"],
            cwd=self.work,
            env=self.env | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with server:
            assert server.stdin
            assert server.stdout
            hello = {"clientInfo": {"name": "skilldrop", "version": "1"}}
            for number, (name, value) in enumerate([("initialize", hello), (method, params)]):
                server.stdin.write(json.dumps({"id": number, "method": name, "params": value}))
                server.stdin.write("\n")
                server.stdin.flush()
                answer = next(
                    row for row in map(json.loads, server.stdout) if row.get("id") == number
                )
            server.terminate()
        return answer["result"]


class ClaudeCode(Agent):
    """Claude Code without an account: its requests go to a server that only keeps them."""

    title, package, folder = "Claude Code", "@anthropic-ai/claude-code", ".claude/skills"
    note = "no account: skills are listed and their text is loaded, no model answers"

    def skills(self) -> dict[str, Files]:
        """Return the skills that it lists when it starts, and that lie in its folder."""
        first, _ = self._start("hello")
        folder = self.home / self.folder
        return {
            name: self.read(folder / name) for name in first["skills"] if (folder / name).exists()
        }

    def loaded(self, name: str) -> str:
        """Return the request to the model when a skill is invoked."""
        return self._start(f"/{name}")[1]

    def _start(self, prompt: str) -> tuple[dict[str, Any], str]:
        """Return its first message and the text of all its requests."""
        with recording() as (address, requests):
            said = self.run(
                *("claude", "--print", prompt, "--output-format", "stream-json", "--verbose"),
                may_fail=True,
                ANTHROPIC_BASE_URL=address,
                ANTHROPIC_API_KEY="none",
                CLAUDE_CODE_MAX_RETRIES="0",
            )
        return json.loads(said.splitlines()[0]), "".join(requests)


@contextmanager
def recording() -> Iterator[tuple[str, list[str]]]:
    """Serve an API that refuses every request; yield its address and the texts of the requests."""
    requests: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            requests.append(self.rfile.read(length).decode())
            self.send_error(400)

        do_HEAD = do_GET = do_POST  # noqa: N815  # names of the library

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()

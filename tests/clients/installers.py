"""Programs that install skills into the folder of an agent."""

import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar
from urllib.parse import quote

from tests.clients.client import CHINESE, LONG, MISNAMED, NAMELESS, Client
from tests.clients.installed import Absent
from tests.clients.packages import PACKAGES, Files
from tests.clients.sources import FolderClient

CLAUDE = Path(".claude/skills")
WITH_FOLDERS = tuple(
    package.key
    for package in PACKAGES
    if package.valid and package.key != "binary" and any("/" in path for path in package.files)
)
"""Skills with files in subfolders."""


class Installer(Client):
    """Client that puts copies into .claude/skills of its work folder."""

    def skills(self) -> dict[str, Files]:
        """Return the installed folders."""
        return self.below(self.work / CLAUDE)


class FromFolder(Installer, FolderClient):
    """Client that installs from a folder."""

    reads = "the installed folders"

    def install(self) -> None:
        """Install all skills of the source."""
        super().install()
        self.add(self.given)

    def add(self, folder: Path) -> None:
        """Install all skills in a folder."""
        raise NotImplementedError

    def update(self) -> None:
        """Bring the folder up to date, and install all again."""
        super().update()
        self.add(self.given)


class VercelSite(Installer):
    """Command `skills` of vercel, from the discovery index of the site."""

    title, package, route = "vercel skills", "skills", "the site's address"
    missing = NAMELESS
    keeps_bits = False

    def install(self) -> None:
        """Add everything that the site publishes."""
        (self.home / ".claude").mkdir()  # by which its update finds the agent
        self.add(self.site)

    def add(self, source: str) -> None:
        """Add all skills of a source."""
        self.run("skills", "add", source, "--yes", "--copy", "--agent", "claude-code")

    def update(self) -> None:
        """Let it compare the digests of the index with those of its lock file."""
        self.run("skills", "update", "--yes", "--project")


class VercelToken(VercelSite):
    """Command `skills` of vercel, with a token at the beginning of the path."""

    route, with_token = "the site's address and a token", True


class Vercel(FromFolder):
    """Command `skills` of vercel, from a local folder."""

    title, package, follows_links = "vercel skills", "skills", False
    missing = NAMELESS
    note = "`skills update` knows no local folders: add again"

    def add(self, folder: Path) -> None:
        """Add all skills in a folder."""
        options = ("--yes", "--copy", "--agent", "claude-code")
        self.run("skills", "add", folder, *options, may_fail=self.finds_nothing)


class SkillkitSite(Installer):
    """skillkit, from the older discovery index of the site."""

    title, package, route = "skillkit", "skillkit", "the site's address"
    missing: ClassVar = {
        **dict.fromkeys(WITH_FOLDERS, "it puts files of subfolders beside SKILL.md"),
        "binary": "it decodes every file as text, and puts them beside SKILL.md",
    }
    spoiled = (*WITH_FOLDERS, "binary")
    own_files = frozenset({".skillkit.json"})
    keeps_bits = False

    def install(self) -> None:
        """Install all skills, without its own scan."""
        self.add(self.site)

    def update(self) -> None:
        """Install all again: its own update only looks at git."""
        self.add(self.site)

    def add(self, source: str) -> None:
        """Install all skills of a source over those that are there."""
        options = ("--all", "--yes", "--no-scan", "--force", "--agent", "claude-code")
        self.run("skillkit", "install", source, *options)


class SkillkitToken(SkillkitSite):
    """skillkit, with a token at the beginning of the path."""

    route, with_token = "the site's address and a token", True


class Skillkit(FromFolder):
    """skillkit, from a local folder."""

    title, package, follows_links = "skillkit", "skillkit", False
    own_files = frozenset({".skillkit.json"})

    def add(self, folder: Path) -> None:
        """Install all skills in a folder, without its own scan."""
        options = ("--all", "--yes", "--no-scan", "--force", "--agent", "claude-code")
        self.run("skillkit", "install", folder, *options)


class Openskills(FromFolder):
    """openskills, from a local folder."""

    title, package, follows_links = "openskills `install`", "openskills", False
    own_files = frozenset({".openskills.json"})

    def add(self, folder: Path) -> None:
        """Install all skills in a folder."""
        self.run("openskills", "install", folder, "--yes", may_fail=self.finds_nothing)

    def update(self) -> None:
        """Bring the folder up to date, and let it copy from there."""
        FolderClient.update(self)
        self.run("openskills", "update")


class Skillport(FromFolder):
    """skillport, which checks the specification itself."""

    title, package, is_python = "skillport", "skillport", True
    missing: ClassVar = {**NAMELESS, **LONG, **CHINESE, **MISNAMED}

    def add(self, folder: Path) -> None:
        """Add all folders."""
        options = ("--yes", "--force", "--no-keep-structure")
        target = ("--skills-dir", self.work / CLAUDE)
        self.run("skillport", *target, "add", folder, *options, may_fail=True)

    def update(self) -> None:
        """Bring the folder up to date, and let it copy from there."""
        FolderClient.update(self)
        self.run("skillport", "--skills-dir", self.work / CLAUDE, "update", "--all")


class Curl(Installer):
    """curl and unzip, as the page of a skill says."""

    title = "curl, unzip"
    route, with_token = "the site's address and a token in `~/.netrc`", True

    @classmethod
    def version(cls) -> str:
        """Return the version of the system's curl."""
        said = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
        return said.stdout.split()[1]

    def install(self) -> None:
        """Fetch each skill alone, and unpack it into an empty folder."""
        if not (shutil.which("curl") and shutil.which("unzip")):
            raise Absent("curl or unzip is not installed")
        self.target = Path(mkdtemp(dir=self.work))
        self.write_token()
        for key in self.running.skills():
            url = f"{self.running.origin}/skills/{quote(key)}/bundle.zip"
            self.run("curl", *self.options(), "-fsSo", "skill.zip", url)
            self.run("unzip", "-qo", "skill.zip", "-d", self.target / key)

    def write_token(self) -> None:
        """Write ~/.netrc."""
        (self.home / ".netrc").write_text(f"machine 127.0.0.1 login me password {self.token}\n")

    def options(self) -> list[str]:
        """Return the options that send the token."""
        return ["-n"]

    def update(self) -> None:
        """Fetch all again."""
        self.install()

    def skills(self) -> dict[str, Files]:
        """Return the unpacked folders."""
        return self.below(self.target)


class CurlHeader(Curl):
    """curl with a header."""

    route = "the site's address and a token in a header"

    def write_token(self) -> None:
        """Do nothing."""

    def options(self) -> list[str]:
        """Return the header."""
        return ["-H", f"Authorization: Bearer {self.token}"]


class FastMcp(Installer):
    """`sync_skills` of FastMCP, over MCP."""

    title, package, is_python = "FastMCP `sync_skills`", "fastmcp", True
    route = "`skilldrop mcp`"
    keeps_bits = False
    note = "a file that was deleted stays unless the folder is empty before"
    script: ClassVar[str] = "fastmcp_sync.py"

    def install(self) -> None:
        """Sync into an empty folder."""
        self.target = Path(mkdtemp(dir=self.work))
        self.run("python", Path(__file__).with_name(self.script), self.target, *self.server())

    def server(self) -> list[str]:
        """Return the command line of a server."""
        return self.running.command("mcp")

    def update(self) -> None:
        """Sync again."""
        self.install()

    def skills(self) -> dict[str, Files]:
        """Return the folders of the last sync."""
        return self.below(self.target)


class FastMcpToken(FastMcp):
    """`sync_skills` over HTTP, with a token."""

    route, with_token = "`skilldrop mcp --http` and a token", True

    def server(self) -> list[str]:
        """Return an address and the token for its header."""
        return [self.running.mcp, self.token]


class AgentFrameworkMcp(FastMcp):
    """`MCPSkillsSource` of Microsoft's Agent Framework, by `skill://index.json`."""

    title, package = "Microsoft agent-framework `MCPSkillsSource`", "agent-framework-core"
    script = "agent_framework_mcp.py"
    note = "files are asked for by their names"

"""Programs that install skills into the folder of an agent."""

import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar
from urllib.parse import quote

from tests.clients.client import Client
from tests.clients.installed import Absent
from tests.clients.packages import Files

NAMELESS = {"nameless": "it wants a name in SKILL.md"}
CLAUDE = Path(".claude/skills")


class Installer(Client):
    """Client that puts copies into .claude/skills of its work folder."""

    def skills(self) -> dict[str, Files]:
        """Return the installed folders."""
        return self.below(self.work / CLAUDE)


class FromExport(Installer):
    """Client that installs from a folder written by `skilldrop export`."""

    route = "`skilldrop export`"

    def export(self) -> Path:
        """Export all skills, or what has changed since, and return the folder."""
        folder = self.home / "export"
        self.running.run("export", str(folder))
        return folder


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


class VercelExport(FromExport):
    """Command `skills` of vercel, from a local folder."""

    title, package = "vercel skills", "skills"
    missing = NAMELESS
    note = "`skills update` knows no local folders: add again"

    def install(self) -> None:
        """Add all folders."""
        self.add(self.export())

    def add(self, folder: Path) -> None:
        """Add all skills in a folder."""
        self.run("skills", "add", folder, "--yes", "--copy", "--agent", "claude-code")

    def update(self) -> None:
        """Add all folders again."""
        self.install()


class SkillkitSite(Installer):
    """skillkit, from the older discovery index of the site."""

    title, package, route = "skillkit", "skillkit", "the site's address"
    missing: ClassVar = {"binary": "it decodes every file as text"}
    spoiled = ("binary",)
    own_files = frozenset({".skillkit.json"})
    keeps_bits = False
    note = "it puts files of subfolders beside SKILL.md"

    def as_kept(self, files: Files) -> Files:
        """Return the files without their folders."""
        return {Path(path).name: file for path, file in super().as_kept(files).items()}

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


class SkillkitExport(FromExport):
    """skillkit, from a local folder."""

    title, package = "skillkit", "skillkit"
    own_files = frozenset({".skillkit.json"})

    def install(self) -> None:
        """Install all folders, without its own scan."""
        self.add(self.export())

    def add(self, folder: Path) -> None:
        """Install all skills in a folder."""
        options = ("--all", "--yes", "--no-scan", "--force", "--agent", "claude-code")
        self.run("skillkit", "install", folder, *options)

    def update(self) -> None:
        """Install all again."""
        self.install()


class Openskills(FromExport):
    """openskills, from a local folder."""

    title, package = "openskills", "openskills"
    own_files = frozenset({".openskills.json"})

    def install(self) -> None:
        """Install all folders."""
        self.add(self.export())

    def add(self, folder: Path) -> None:
        """Install all skills in a folder."""
        self.run("openskills", "install", folder, "--yes")

    def update(self) -> None:
        """Export again, and let it copy from there."""
        self.export()
        self.run("openskills", "update")


class Skillport(FromExport):
    """skillport, which checks the specification itself."""

    title, package, is_python = "skillport", "skillport", True
    missing: ClassVar = {
        **NAMELESS,
        "long-description": "it refuses a description over 1,024 characters",
        "数据清洗": "it wants an ASCII name",
        "office--pdf": "it wants the folder's name in SKILL.md",
    }

    def install(self) -> None:
        """Add all folders."""
        folder = self.work / CLAUDE
        options = ("--yes", "--force", "--no-keep-structure")
        self.run("skillport", "--skills-dir", folder, "add", self.export(), *options, may_fail=True)

    def update(self) -> None:
        """Export again, and let it copy from there."""
        self.export()
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

    def install(self) -> None:
        """Sync into an empty folder."""
        script = Path(__file__).with_name("fastmcp_sync.py")
        self.target = Path(mkdtemp(dir=self.work))
        self.run("python", script, self.target, *self.server())

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

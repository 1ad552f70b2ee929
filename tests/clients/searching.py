"""Clients that search a folder and all below it for SKILL.md, pointed at any folder."""

from pathlib import Path

from tests.clients.agents import Codex, OpencodeData
from tests.clients.client import Client
from tests.clients.installers import (
    Openskills,
    SkillkitExport,
    VercelExport,
)


class Searching(Client):
    """Client that searches a folder."""

    def search(self, folder: Path) -> None:
        """Point it at a folder."""
        raise NotImplementedError


class OpencodeSearch(OpencodeData, Searching):
    """opencode with the folder in `skills.paths`."""

    def search(self, folder: Path) -> None:
        """Name the folder in its settings."""
        self.configure({"paths": [str(folder)]})


class CodexSearch(Codex, Searching):
    """Codex with a link to the folder."""

    def search(self, folder: Path) -> None:
        """Make its folder of skills a link."""
        link = self.home / self.folder
        link.parent.mkdir(parents=True)
        link.symlink_to(folder)


class VercelSearch(VercelExport, Searching):
    """Command `skills add` of vercel."""

    def search(self, folder: Path) -> None:
        """Add all skills below the folder."""
        self.add(folder)


class SkillkitSearch(SkillkitExport, Searching):
    """skillkit."""

    def search(self, folder: Path) -> None:
        """Install all skills below the folder."""
        self.add(folder)


class OpenskillsSearch(Openskills, Searching):
    """openskills."""

    def search(self, folder: Path) -> None:
        """Install all skills below the folder."""
        self.add(folder)


SEARCHING: tuple[type[Searching], ...] = (
    CodexSearch,
    OpencodeSearch,
    OpenskillsSearch,
    SkillkitSearch,
    VercelSearch,
)

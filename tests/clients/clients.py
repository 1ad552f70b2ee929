"""All clients of the tests, in the order of the tables."""

from tests.clients import agents, inspector, installers
from tests.clients.client import Client
from tests.clients.libraries import LIBRARIES
from tests.clients.sources import ALL, FolderClient, from_each

AGENTS: tuple[type[FolderClient], ...] = (
    agents.ClaudeCode,
    agents.Codex,
    agents.Gemini,
    agents.OpencodeFolder,
    agents.OpenskillsRead,
)

INSTALLERS: tuple[type[FolderClient], ...] = (
    installers.Openskills,
    installers.Skillkit,
    installers.Skillport,
    installers.Vercel,
)

READERS = tuple(each for kind in (*AGENTS, *LIBRARIES) for each in from_each(kind))
"""Clients that read a folder where it lies, from each source."""

OF_FOLDERS = (*READERS, *(each for kind in INSTALLERS for each in from_each(kind, ALL)))
"""Clients that get their skills from a folder."""

OTHERS: tuple[type[Client], ...] = (
    agents.OpencodeSite,
    agents.OpencodeToken,
    installers.SkillkitSite,
    installers.SkillkitToken,
    installers.VercelSite,
    installers.VercelToken,
    installers.Curl,
    installers.CurlHeader,
    installers.FastMcp,
    installers.FastMcpToken,
    installers.AgentFrameworkMcp,
    inspector.Inspector,
    inspector.InspectorToken,
)

CLIENTS: tuple[type[Client], ...] = (*OF_FOLDERS, *OTHERS)

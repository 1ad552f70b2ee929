"""All clients of the tests, in the order of the table."""

from tests.clients import agents, inspector, installers
from tests.clients.client import Client

CLIENTS: tuple[type[Client], ...] = (
    agents.ClaudeCode,
    agents.Codex,
    agents.Gemini,
    agents.OpencodeLinked,
    agents.OpencodeData,
    agents.OpencodeSite,
    agents.OpenskillsLinked,
    installers.Openskills,
    installers.SkillkitExport,
    installers.SkillkitSite,
    installers.Skillport,
    installers.VercelExport,
    installers.VercelSite,
    installers.FastMcp,
    inspector.Inspector,
)

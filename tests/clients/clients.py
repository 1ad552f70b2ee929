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
    agents.OpencodeToken,
    agents.OpenskillsLinked,
    installers.Openskills,
    installers.SkillkitExport,
    installers.SkillkitSite,
    installers.SkillkitToken,
    installers.Skillport,
    installers.VercelExport,
    installers.VercelSite,
    installers.VercelToken,
    installers.Curl,
    installers.CurlHeader,
    installers.FastMcp,
    installers.FastMcpToken,
    inspector.Inspector,
    inspector.InspectorToken,
)

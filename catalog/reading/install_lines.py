"""Commands with which people install a skill from the site, one for each client."""

from dataclasses import dataclass
from urllib.parse import quote

from catalog.model import naming

TOKEN = "TOKEN"
"""Placeholder for a reader's token."""


@dataclass(frozen=True, slots=True)
class InstallLine:
    """Command for a shell, or a line of a client's configuration."""

    client: str
    text: str
    note: str = ""


def of_skill(site: str, skill_id: str, *, needs_token: bool = False) -> list[InstallLine]:
    """Return the lines for a skill on the site at a URL, which ends with a slash.

    With needs_token, commands that read ~/.netrc do so, and the others have the placeholder TOKEN
    in their URL.
    """
    skill, name = f"skills/{quote(skill_id, safe='')}", naming.install_name(skill_id)
    in_path = f"{site}token/{TOKEN}/{skill}" if needs_token else f"{site}{skill}"
    curl = f"curl -fsS{'n' if needs_token else ''}"
    return [
        InstallLine("skills (npx)", f"npx skills add {in_path}", "for any agent that it knows"),
        *(
            InstallLine(
                client,
                f"{curl} {site}{skill}/bundle.zip -o {name}.zip && "
                f"mkdir -p {folder} && unzip -qo {name}.zip -d {folder}/{name} && rm {name}.zip",
            )
            for client, folder in _FOLDERS.items()
        ),
        InstallLine(
            "opencode",
            f'"skills": {{"urls": ["{in_path}/.well-known/skills/"]}}',
            "in opencode.json; it fetches new versions by itself",
        ),
    ]


_FOLDERS = {
    "Claude Code": "~/.claude/skills",
    "Codex, Gemini CLI and others": "~/.agents/skills",
}
"""Folders of personal skills, by the clients that read them."""

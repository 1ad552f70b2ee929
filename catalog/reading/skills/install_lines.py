"""Commands that install a skill, and web pages of its repository."""

import shlex
from collections.abc import Mapping, Sequence
from posixpath import join
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from catalog.listings import refusals
from catalog.model import naming

TOKEN = "TOKEN"
"""Placeholder for a reader's token."""


class InstallLine(NamedTuple):
    """Command for a shell, or a line of a client's configuration."""

    client: str
    text: str
    note: str = ""


class Installation(NamedTuple):
    """How people get a skill."""

    lines: list[InstallLine]
    notes: list[str]  # why some clients have none, and the meaning of TOKEN


def of_skill(
    site: str,
    row: Mapping[str, Any],
    findings: Sequence[Mapping[str, Any]] = (),
    *,
    needs_token: bool = False,
) -> Installation:
    """Return the lines for a skill on the site at a URL, which ends with a slash.

    A skill that is not active, or that nobody may start, has none, and no line is for a client
    that would not load the skill because of the findings of its published version. With
    needs_token, commands that read ~/.netrc do so, and the others have the placeholder TOKEN.
    """
    if row["status"] != "active":
        return Installation([], [])
    if not (row["model_invocable"] or row["user_invocable"]):
        return Installation([], [_FOR_NOBODY])
    lines = _lines(site, row["skill_id"], row["name"], needs_token=needs_token)
    notes = refusals.sentences(findings)
    if not row["model_invocable"]:
        lines = [line for line in lines if line.client in _OBEDIENT]
        notes.insert(0, _FOR_USERS)
    refused = refusals.refusing(findings)
    lines = [line for line in lines if line.client not in refused]
    if needs_token and lines:
        notes.append(_FOR_READERS.format(urlsplit(site).hostname))
    return Installation(lines, notes)


_FOR_NOBODY = "There is nothing to install: its author lets neither agents nor users start it."
_FOR_USERS = (
    "Its author lets only users start it (disable-model-invocation). Clients that ignore this "
    "have no command here."
)
_FOR_READERS = (
    "TOKEN stands for your token; `skilldrop token new NAME`, where the site runs, makes one. "
    "`curl -n` finds it in ~/.netrc: `machine {} login me password TOKEN`."
)


def _lines(site: str, skill_id: str, skill_name: str, *, needs_token: bool) -> list[InstallLine]:
    skill, name = f"skills/{quote(skill_id, safe='')}", naming.install_name(skill_id)
    in_path = f"{site}token/{TOKEN}/{skill}" if needs_token else f"{site}{skill}"
    curl = f"curl -fsS{'n' if needs_token else ''}"
    base = f"{site}token/{TOKEN}" if needs_token else site.rstrip("/")
    return [
        InstallLine(
            "Any agent",
            f"{curl}O {site}pull.pyz && python3 pull.pyz {base} --only {shlex.quote(skill_name)}",
            "fetches new versions, too; another --only adds a skill; --all takes every skill",
        ),
        InstallLine("skills (npx)", f"npx skills add {in_path}", "for any agent that it knows"),
        InstallLine(
            "Claude Code",
            f"{curl} {site}{skill}/bundle.zip -o {name}.zip && mkdir -p {_FOLDER_OF_CLAUDE} && "
            f"unzip -qo {name}.zip -d {_FOLDER_OF_CLAUDE}/{name} && rm {name}.zip",
        ),
        InstallLine(
            "opencode",
            f'"skills": {{"urls": ["{in_path}/.well-known/skills/"]}}',
            "in opencode.json; it fetches new versions by itself",
        ),
    ]


_OBEDIENT = {"Claude Code"}
"""Clients that start a skill with `disable-model-invocation` only if their user asks for it."""
_FOLDER_OF_CLAUDE = "~/.claude/skills"
_FOLDER = {
    "github.com": "/tree/{commit}/{path}",
    "gitlab.com": "/-/tree/{commit}/{path}",
    "bitbucket.org": "/src/{commit}/{path}",
    "codeberg.org": "/src/commit/{commit}/{path}",
    "git.sr.ht": "/tree/{commit}/item/{path}",
}
"""Address of a folder at a commit, below the page of the repository."""


def repository_page(url: str, commit: str | None, *path: str) -> str | None:
    """Return the web page of a folder of a repository, at a commit if there is one.

    The path is relative to the repository. None for a URL that is not of http or https, or of a
    forge that is not well known; credentials in a URL are left out.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        is_plain = parts.scheme in ("http", "https") and parts.port is None
    except ValueError:
        return None
    if not is_plain or host not in _FOLDER:
        return None
    repository = parts.path.strip("/").removesuffix(".git")
    if repository.count("/") < 1:
        return None
    address = f"https://{host}/{quote(repository, safe='/~')}"
    if not commit:
        return address
    folder = quote(join("", *filter(None, path)).strip("/"))
    rest = _FOLDER[host].format(commit=quote(commit, safe=""), path=folder)
    return address + rest.rstrip("/").removesuffix("/item")

"""Facts about one skill for a person who wants to install it or see its repository."""

import json
from collections.abc import Mapping
from posixpath import join
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from catalog.database.expressions import FOLDER_NAME
from catalog.database.queries import Database
from catalog.model import naming
from catalog.model.fields import COLUMNS, DECLARED
from catalog.prompt_index import locations
from catalog.prompt_index.query import bases_of
from catalog.reading import browse, named, references, versions

FIELDS = (
    "skill_id",
    "name",
    "description",
    "status",
    "status_reason",
    "level",
    "root",
    "path",
    "version",
    "digest",
    "skill_md_name",
    *(name for name in DECLARED if COLUMNS[name].label),
)


def of_skill(db: Database, name: str, site: str, *, needs_token: bool = False) -> dict[str, Any]:
    """Return a skill by its name or skill_id: `FIELDS`, `location`, `tags` and `browse.details`.

    Also the `files` and `versions`, newest first, the names of the skills that it `uses`, `needs`
    in all, and is `used_by`, its `install` lines and `install_note`. An active skill comes before
    any other of that name. site is the URL of the site, which ends with a slash. Raises
    NotInCatalog, which suggests the closest names.
    """
    (row,) = db.query(_SKILL, [named.find_skill(db, name)["id"]])
    lines = install_lines_of(site, row, needs_token=needs_token)
    version = row["current_version_id"]
    return {
        **{field: row[field] for field in FIELDS},
        "location": locations.of_skill_md(locations.PUBLISHED, bases_of(db), row),
        "tags": json.loads(row["tags"]),
        **references.of_skill(db, row["id"]).names,
        "files": list(versions.files(db, version).values()),
        **browse.details(db, row),
        "versions": [each["version"] for each in versions.of_skill(db, row["id"])],
        "install": [line._asdict() for line in lines],
        "install_note": restriction(row),
    }


_SKILL = f"""
    SELECT s.*, v.version, {FOLDER_NAME} AS folder
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id WHERE s.id = ?
"""


TOKEN = "TOKEN"
"""Placeholder for a reader's token."""


class InstallLine(NamedTuple):
    """Command for a shell, or a line of a client's configuration."""

    client: str
    text: str
    note: str = ""


def install_lines_of(
    site: str, row: Mapping[str, Any], *, needs_token: bool = False
) -> list[InstallLine]:
    """Return the lines for a skill on the site at a URL, which ends with a slash.

    A skill that is not active, or that nobody may start, has none; see `restriction` for others
    with less. With needs_token, commands that read ~/.netrc do so, and the others have the
    placeholder TOKEN in their URL.
    """
    if row["status"] != "active" or not (row["model_invocable"] or row["user_invocable"]):
        return []
    lines = _lines(site, row["skill_id"], needs_token=needs_token)
    return [line for line in lines if row["model_invocable"] or line.client in _OBEDIENT]


def restriction(row: Mapping[str, Any]) -> str | None:
    """Return why an active skill has not the lines of all clients; None if it has."""
    if row["status"] != "active" or row["model_invocable"]:
        return None
    if not row["user_invocable"]:
        return "There is nothing to install: its author lets neither agents nor users start it."
    return (
        "Its author lets only users start it (disable-model-invocation). Clients that ignore this "
        "have no command here."
    )


def _lines(site: str, skill_id: str, *, needs_token: bool) -> list[InstallLine]:
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


_OBEDIENT = {"Claude Code"}
"""Clients that start a skill with `disable-model-invocation` only if their user asks for it."""
_FOLDERS = {
    "Claude Code": "~/.claude/skills",
    "Codex, Gemini CLI and others": "~/.agents/skills",
}
"""Folders of personal skills, by the clients that read them."""


_FOLDER = {
    "github.com": "/tree/{commit}/{path}",
    "gitlab.com": "/-/tree/{commit}/{path}",
    "bitbucket.org": "/src/{commit}/{path}",
    "codeberg.org": "/src/commit/{commit}/{path}",
    "git.sr.ht": "/tree/{commit}/item/{path}",
}
"""Address of a folder at a commit, below the page of the repository."""


def repository_label(url: str) -> str:
    """Return the URL of a repository for people: without scheme, credentials and `.git`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme in ("", "file"):
        return url
    host = parts.netloc.rpartition("@")[2]
    return f"{host}{parts.path.rstrip('/').removesuffix('.git')}"


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

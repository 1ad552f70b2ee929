"""Addresses of every kind of page, at the skills of a catalog that ask most of it."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, urlencode

import yaml

from catalog.site.server import app

_MARKUP = quote("<script>document.title = 'ran'</script>", safe="")
ALWAYS = {
    "front": "/",
    "list": "/skills",
    "list, filtered": "/skills?has_scripts=yes&status=active&sort=size",
    "search": "/skills?q=report",
    "search without results": "/skills?q=qzxwvutq",
    "sources": "/sources",
    "findings": "/findings",
    "loose findings": "/not-a-skill",
    "indexes": "/indexes",
    "questions": "/questions",
    "duplicates": "/questions/same_content",
    "activity": "/activity",
    "review": "/review",
    "usage": "/usage",
    "health": "/health",
    "help": "/help",
    "search for markup": f"/skills?q={_MARKUP}",
    "no page": f"/no-such-page{_MARKUP}",
    "no skill": f"/skills/{_MARKUP}",
    "no index": f"/indexes/{_MARKUP}",
    "no question": f"/questions/{_MARKUP}",
    "no finding": f"/findings/{_MARKUP}",
    "tables": "/catalog",
    "table": "/catalog/skills",
    "table of findings": "/catalog/findings",
}
"""Pages of every catalog, by kind."""

_SKILLS = {
    "skill, long": "v.id = s.current_version_id ORDER BY s.body_lines DESC",
    "skill, many findings": "v.id = s.current_version_id"
    " ORDER BY (SELECT count(*) FROM findings WHERE skill = s.id) DESC",
    "skill, many files": "v.id = s.current_version_id"
    " ORDER BY v.file_inventory ->> 'totalFiles' DESC",
    "skill, many versions": "v.id = s.current_version_id"
    " ORDER BY (SELECT count(*) FROM versions WHERE skill = s.id) DESC",
    "skill, Chinese": "v.id = s.current_version_id AND s.name GLOB '*[一-龥]*'",
}
_NOT_ACTIVE = "SELECT skill_id, id, status FROM skills WHERE status != 'active' GROUP BY status"
_FILES = """
    SELECT s.skill_id, f.path FROM files AS f JOIN versions AS v ON v.id = f.version
    JOIN skills AS s ON s.current_version_id = v.id
    WHERE s.status = 'active' AND f.is_text AND {} ORDER BY f.size DESC LIMIT 1
"""


def page_kinds(catalog: Path) -> dict[str, str]:
    """Return paths by kind of page; of several pages of a kind the largest, as far as is known."""
    db = sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)
    try:
        return ALWAYS | _of_skills(db) | _of_the_rest(db) | _questions(db)
    finally:
        db.close()


def _of_skills(db: sqlite3.Connection) -> dict[str, str]:
    pages = {}
    for kind, order in _SKILLS.items():
        for skill_id, version in db.execute(
            "SELECT s.skill_id, v.version FROM skills AS s JOIN versions AS v ON"
            f" s.status = 'active' AND {order} LIMIT 1"
        ):
            skill = _path("skills", skill_id)
            pages[kind] = skill
            pages[f"versions of {kind}"] = f"{skill}/versions"
            pages[f"version of {kind}"] = _path("skills", skill_id, "versions", version)
            pages[f"similar to {kind}"] = f"{skill}/similar"
            pages[f"no file of {kind}"] = f"{skill}/view/{_MARKUP}"
            pages[f"changes of {kind}"] = f"/activity?{urlencode({'skill': skill_id})}"
    for skill_id, row, status in db.execute(_NOT_ACTIVE):
        pages[f"skill, {status}"] = f"{_path('skills', skill_id)}?row={row}"
    for skill_id, path in db.execute(_FILES.format("f.path LIKE '%/%'")):
        pages["folder"] = f"{_path('skills', skill_id)}/view/{quote(path.rpartition('/')[0])}"
    for kind in ("script", "skill_md", "reference", "asset"):
        for skill_id, path in db.execute(_FILES.format(f"f.kind = '{kind}'")):
            pages[f"file, {kind}"] = f"{_path('skills', skill_id)}/view/{quote(path)}"
    return pages


def _of_the_rest(db: sqlite3.Connection) -> dict[str, str]:
    pages = {}
    for (code,) in db.execute(
        "SELECT code FROM findings GROUP BY code ORDER BY count(*) DESC LIMIT 3"
    ):
        pages[f"finding {code}"] = _path("findings", code)
    for (code,) in db.execute("SELECT code FROM findings WHERE profile = 'safety' LIMIT 1"):
        pages[f"finding {code}"] = _path("findings", code)
    for (name,) in db.execute("SELECT name FROM indexes LIMIT 1"):
        for part in ("", "/text", "/history", "?show=over_budget"):
            pages[f"index{part}"] = f"{_path('indexes', name)}{part}"
    for (scan,) in db.execute("SELECT max(id) FROM scans"):
        pages["scan"] = f"/activity?scan={scan}"
    for (source,) in db.execute(
        "SELECT source FROM skills GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    ):
        pages["source"] = f"/sources/{quote(source)}"
        pages["list of a source"] = f"/skills?{urlencode({'source': source})}"
    return pages


def _questions(db: sqlite3.Connection) -> dict[str, str]:
    (name,) = db.execute("SELECT min(name) FROM skills").fetchone()
    values = {"skill": name or "x", "tool": "Bash", "author": "a", "words": "report", "days": "30"}
    queries = yaml.safe_load(app.metadata_path().read_text("utf-8"))["databases"]["catalog"][
        "queries"
    ]
    return {
        f"question {name}": _asked(name, values, query.get("params", ()))
        for name, query in queries.items()
    }


def _asked(name: str, values: dict[str, str], parameters: Iterable[str]) -> str:
    return f"/questions/{name}?{urlencode({key: values.get(key, '') for key in parameters})}"


def _path(*parts: str) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)

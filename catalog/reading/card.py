"""Facts about one skill for a person: its state, its location and how to install it."""

from typing import Any

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.reading import install_lines, references, search_hits
from catalog.text.suggestions import closest, few, shown

FIELDS = (
    "skill_id",
    "name",
    "description",
    "status",
    "status_reason",
    "level",
    "version",
    "digest",
    "location",
)


def of_skill(db: Database, name: str, site: str, *, needs_token: bool = False) -> dict[str, Any]:
    """Return a skill by its name or skill_id: `FIELDS`, its `install` lines and `install_note`.

    Also the names of the skills that it `uses`, `needs` in all, and is `used_by`. An active skill
    comes before any other of that name. site is the URL of the site, which ends with a slash.
    Raises NotInCatalog, which suggests the closest names.
    """
    name = name.encode(errors="replace").decode()
    row = next(db.query(_SKILL, {"name": name}), None)
    if row is None:
        raise NotInCatalog(_no_skill(db, name))
    lines = install_lines.of_skill(site, row, needs_token=needs_token)
    return {
        **{field: row[field] for field in FIELDS if field in row},
        "location": search_hits.location(row),
        **references.of_skill(db, row["id"]).names,
        "install": [
            {"client": line.client, "text": line.text, "note": line.note} for line in lines
        ],
        "install_note": install_lines.restriction(row),
    }


_SKILL = """
    SELECT s.*, v.version, (SELECT packages_folder FROM health) AS packages_folder
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.name = :name OR s.skill_id = :name
    ORDER BY s.status = 'active' DESC, s.status = 'removed', s.name = :name DESC, s.id LIMIT 1
"""


def _no_skill(db: Database, name: str) -> str:
    names = [row["name"] for row in db.query("SELECT DISTINCT name FROM skills")]
    near = closest(name, names)
    advice = f" The closest are: {few(near)}." if near else ""
    return f"There is no skill {shown(name)}.{advice}"

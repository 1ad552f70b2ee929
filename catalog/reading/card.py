"""Facts about one skill for a person: what its page shows, and how to install it."""

import json
from typing import Any

from catalog.database.queries import Database
from catalog.reading import browse, install_lines, listing, references, search_hits, versions

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
    "author",
    "license",
    "compatibility",
    "allowed_tools",
    "category",
)


def of_skill(db: Database, name: str, site: str, *, needs_token: bool = False) -> dict[str, Any]:
    """Return a skill by its name or skill_id: `FIELDS`, `location`, `tags` and `listing.details`.

    Also the `files` and `versions`, newest first, the names of the skills that it `uses`, `needs`
    in all, and is `used_by`, its `install` lines and `install_note`. An active skill comes before
    any other of that name. site is the URL of the site, which ends with a slash. Raises
    NotInCatalog, which suggests the closest names.
    """
    (row,) = db.query(_SKILL, [versions.find_skill(db, name)["id"]])
    lines = install_lines.of_skill(site, row, needs_token=needs_token)
    version = row["current_version_id"]
    return {
        **{field: row[field] for field in FIELDS},
        "location": search_hits.location(row),
        "tags": json.loads(row["tags"]),
        **references.of_skill(db, row["id"]).names,
        "files": browse.files(db, version) if version else [],
        **listing.details(db, row),
        "versions": [each["version"] for each in browse.versions(db, row["id"])],
        "install": [
            {"client": line.client, "text": line.text, "note": line.note} for line in lines
        ],
        "install_note": install_lines.restriction(row),
    }


_SKILL = f"""
    SELECT s.*, v.version, {search_hits.PLACE}
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id WHERE s.id = ?
"""

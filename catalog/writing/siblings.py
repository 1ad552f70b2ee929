"""Links to other skills beside the versions of a package.

The system follows `current` before `..`, so that `../other` leads from a version to its sibling.
These links lie in no version, and lead to versions, so no search through links runs in a circle.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from posixpath import join

from catalog.database import sql
from catalog.database.queries import Database
from catalog.model.naming import CURRENT, entry_name, is_beside_versions
from catalog.writing.packages.inspection import PackagesListing

Siblings = Mapping[str, Mapping[str, str]]
"""Targets of the links, by skill_id and by name."""


def siblings(db: Database, skill_ids: Collection[str] | None = None) -> Siblings:
    """Return the links that packages should have; with skill_ids only those of these skills.

    A published skill has one for each published skill that its working links lead to.
    """
    ids = "" if skill_ids is None else _SKILL_IDS
    parameters = [] if skill_ids is None else [sql.to_json(sorted(skill_ids))]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for skill_id, name, other in db.execute(_SIBLINGS.format(ids), parameters):
        if not is_beside_versions(entry := entry_name(name, other)):
            found[skill_id][entry] = join("..", other, CURRENT)
    return found


def wrongly_linked(db: Database, listing: PackagesListing) -> Iterator[str]:
    """Yield each skill_id whose packages have other links than they should."""
    wanted = siblings(db)
    for skill_id, directory in listing.directories.items():
        if directory.siblings != wanted.get(skill_id, {}):
            yield skill_id


_SKILL_IDS = "s.skill_id IN (SELECT value FROM json_each(?)) AND"
_SIBLINGS = """
    SELECT DISTINCT s.skill_id, other.name, other.skill_id
    FROM skills AS s
    CROSS JOIN skill_references AS r INDEXED BY skill_references_by_skill
        ON r.skill = s.id AND r.kind = 'link'
    JOIN skills AS other ON other.id = r.to_skill
    WHERE {} s.status = 'active' AND s.package_path IS NOT NULL
        AND other.status = 'active' AND r.problem IS NULL
"""  # The package of the other skill may follow.

"""Lookup of one skill by its name, its skill_id or its folder."""

from catalog.database.expressions import IS_WITHHELD
from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog
from catalog.model.naming import skill_id
from catalog.reading.findings import finding_lists
from catalog.text import suggestions
from catalog.text.suggestions import few, shown


def find_skill(
    db: Database, asked: str, *, statuses: tuple[str, ...] = (), by_id: bool = False
) -> Row:
    """Return the row of a skill by its exact name, its skill_id, its bare name or its folder.

    Active skills come first, then the name, or with by_id the skill_id. A folder is absolute, or
    relative to its root; with some statuses, it has a slash. Raises NotInCatalog, which gives the
    status of the skill if it is none of some, and suggests the closest names.
    """
    asked = asked.encode(errors="replace").decode()  # a shell may pass bytes that are not UTF-8
    found = db.row(_SKILL, {"asked": asked, "by_id": by_id})
    is_wanted = found and (not statuses or found["status"] in statuses)
    if not is_wanted and (skill_id := skill_id_of_bare_name(db, asked)):
        found = db.row(_SKILL, {"asked": skill_id, "by_id": True})
    if not found and ("/" in asked or (not statuses and _is_entry(db, asked))):
        found = find_in_folder(db, asked)
    if found and (not statuses or found["status"] in statuses):
        return found
    message = f"There is no {'active ' if statuses else ''}skill {shown(asked)}."
    if found:
        is_removed = found["status"] == "removed"
        advice = f"; `skilldrop {'restore` brings it back' if is_removed else 'status` says why'}"
        if found["status"] == "pending" and found["status_reason"]:
            advice = f": {found['status_reason']}"
        message = f"The skill {shown(found['name'])} is {found['status']}{advice}."
    elif folders := [path for (path,) in db.execute(_LEAF, [asked])]:
        raise NotInCatalog(f"{message} Name the folder by its path: {few(folders)}.")
    similar = db.execute(_SIMILAR, {"asked": asked, "only_active": bool(statuses)})
    names = sorted({name for (name,) in similar})
    is_whole = db.execute("SELECT last_full_scan FROM health").fetchone()[0]
    until = "" if is_whole else " The catalog is being built; more skills may follow."
    raise NotInCatalog(f"{message} {suggestions.known(asked, names)}{until}")


def skill_id_of_bare_name(db: Database, name: str) -> str | None:
    """Return the skill_id of the only or the preferred skill with a bare name, else None.

    Raises NotInCatalog if there are several and none is preferred; it lists their names.
    """
    found = with_bare_name(db, name)
    if len(found) > 1 and found[0][2] is None:
        raise NotInCatalog(
            f"{len(found)} skills have the name {shown(name)}: "
            f"{few([qualified for _, qualified, _ in found])}. Give the name with its namespace; "
            "`skilldrop prefer PATH` makes the bare name mean one of them."
        )
    return str(found[0][0]) if found else None


def skill_id_meant(db: Database, name: str) -> str | None:
    """Return the skill_id of a name in any letters, or of a skill that had it before; else None."""
    namespace, _, bare = name.rpartition(":")
    asked = {"name": name, "slug": skill_id(bare, namespace or None, bare)}
    row = db.execute(_MEANT, asked).fetchone()
    return str(row[0]) if row else None


_MEANT = """
    SELECT skill_id FROM (
        SELECT 0 AS step, skill_id, status, id FROM skills WHERE name = :name
        UNION ALL SELECT 1, skill_id, status, id FROM skills WHERE skill_id = :slug
        UNION ALL SELECT 2, s.skill_id, s.status, -v.id FROM versions AS v
        JOIN skills AS s ON s.id = v.skill WHERE v.skill_id = :name
    ) ORDER BY step, status != 'active', status = 'removed', id LIMIT 1
"""


def with_bare_name(db: Database, name: str) -> list[tuple[str, str, str | None]]:
    """Return skill_id, name and time of preference of the skills with a bare name.

    They are the active ones; without any, those that are not removed, else the removed ones.
    """
    return db.execute(_BARE, [name]).fetchall()


_BARE = """
    WITH named AS (SELECT *, (status != 'active') + (status = 'removed') AS step FROM skills
                   WHERE bare_name = ? AND namespace IS NOT NULL)
    SELECT skill_id, name, max(preferred_at) FROM named
    WHERE step = (SELECT min(step) FROM named) GROUP BY skill_id
    ORDER BY max(preferred_at) IS NULL, max(preferred_at) DESC, name
"""


def find_in_folder(db: Database, folder: str) -> Row:
    """Return the row of the skill in a folder, absolute or relative to its root.

    Raises NotInCatalog.
    """
    relative = folder.rstrip("/")
    rows = db.rows(_FOLDER, {"folder": relative})
    exact = [row for row in rows if row["is_exact"]] or rows
    if len(exact) > 1:
        places = few([f"{row['root']}/{row['path']}" for row in exact])
        raise NotInCatalog(f"{shown(folder)} is in several roots: {places}. Give the whole path.")
    if exact:
        return exact[0]
    for finding in finding_lists.listed_findings(db, place=relative):
        raise NotInCatalog(f"{shown(folder)} is no skill: {finding['message']} {finding['fix']}")
    known = [path for (path,) in db.execute("SELECT path FROM skills WHERE status != 'removed'")]
    for (root,) in db.execute("SELECT path FROM roots"):
        relative = relative.removeprefix(f"{root}/")
    raise NotInCatalog(
        f"There is no skill in the folder {shown(folder)}. {suggestions.known(relative, known)}"
    )


def _is_entry(db: Database, path: str) -> bool:
    skill = db.row(_FOLDER, {"folder": path})
    return bool(skill or finding_lists.listed_findings(db, place=path))


_FOLDER = """
    SELECT *, root || '/' || path = :folder AS is_exact FROM skills
    WHERE status != 'removed' AND :folder IN (path, root || '/' || path)
"""
_SKILL = f"""
    SELECT * FROM skills AS s WHERE name = :asked OR skill_id = :asked
    ORDER BY status = 'active' DESC, (name = :asked) != :by_id DESC, {IS_WITHHELD} DESC,
             status = 'removed', iif(status = 'removed', last_changed, '') DESC, id LIMIT 1
"""
_LEAF = "SELECT path FROM skills WHERE status != 'removed' AND instr(path||'//', '/' || ? || '//')"
_SIMILAR = """
    SELECT name FROM skills WHERE status = 'active' OR NOT :only_active
    ORDER BY lower(substr(name, 1, 1)) = lower(substr(:asked, 1, 1)) DESC,
             abs(length(name) - length(:asked)), name LIMIT 2000
"""

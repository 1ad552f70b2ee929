"""Skills by their folders; reads only."""

from catalog.database.queries import Database
from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog
from catalog.reading import versions
from catalog.text.suggestions import closest, few, shown


def find(db: Database, folder: str, absolute: str) -> Row:
    """Return the row of the skill in a folder.

    folder is the path as a person wrote it, which may be relative to its root, and absolute its
    absolute path. Raises NotInCatalog.
    """
    relative = folder.rstrip("/")
    rows = list(db.query(_FOLDER, {"absolute": absolute, "relative": relative}))
    exact = [row for row in rows if row["is_exact"]] or rows
    if len(exact) > 1:
        places = few([f"{row['root']}/{row['path']}" for row in exact])
        raise NotInCatalog(f"{shown(folder)} is in several roots: {places}. Give the whole path.")
    if exact:
        return exact[0]
    known = [path for (path,) in db.execute("SELECT path FROM skills WHERE status != 'removed'")]
    near = few(closest(relative, known) or known)
    places = f"The closest are: {near}." if known else "The catalog has none yet."
    raise NotInCatalog(f"There is no skill in the folder {shown(folder)}. {places}")


def find_or_named(db: Database, asked: str, absolute: str) -> Row:
    """Return the row of a skill by its name, as `versions.find_skill` does, else by its folder.

    Raises NotInCatalog.
    """
    try:
        return versions.find_skill(db, asked)
    except NotInCatalog:
        try:
            return find(db, asked, absolute)
        except NotInCatalog:
            if "/" in asked:
                raise
        raise


_FOLDER = """
    SELECT *, root || '/' || path = :absolute AS is_exact FROM skills
    WHERE status != 'removed' AND (root || '/' || path = :absolute OR path = :relative)
"""

"""Pins of skills to one of their versions, in the caller's transaction."""

from sqlite_utils import Database

from catalog.database import sql as database_sql
from catalog.database import withheld
from catalog.database.sql import insert
from catalog.model import publication_findings
from catalog.model.errors import NotInCatalog
from catalog.reading import versions as reading_versions
from catalog.reading.versions import find_skill, find_version
from catalog.writing.rows import dialects, fulltext, ingestions, mapping, references
from catalog.writing.rows.ingestions import Ingestion
from catalog.writing.rows.unit_of_work import NO_NAME


def pin(db: Database, query: str, version: str, at: str) -> set[str]:
    """Return a skill to a version and pin it; return each skill_id concerned.

    Raises NotInCatalog, which names the existing skills or versions.
    """
    skill = find_skill(db, query)
    if skill["status"] != "active" and not withheld.is_withheld(skill):
        raise NotInCatalog(
            f"The skill {skill['name']} is {skill['status']}, so none of its versions can be "
            "published; `skilldrop status` reports the reason."
        )
    if not db.execute("SELECT has_package(?)", [skill["path"]]).fetchone()[0]:
        raise NotInCatalog(
            f"The skill {skill['name']} is published in place, so only the present content of its "
            "folder is available; set publish to copy to keep versions."
        )
    pinned = find_version(db, skill, version)
    return _return_to(db, skill, pinned, at, pinned=pinned["id"])


def unpin(db: Database, query: str, at: str) -> set[str]:
    """Make a skill follow its folder again; return each skill_id concerned.

    Raises NotInCatalog if the skill is not pinned.
    """
    skill = find_skill(db, query)
    if skill["pinned_version_id"] is None:
        raise NotInCatalog(f"The skill {skill['name']} is not pinned to a version.")
    return unpin_row(db, skill, at)


def unpin_row(db: Database, skill: database_sql.Row, at: str) -> set[str]:
    """Make the skill of a row follow its folder again; return each skill_id concerned."""
    newest = next(
        iter(
            db.query(
                "SELECT * FROM versions WHERE skill = ? ORDER BY id DESC LIMIT 1", [skill["id"]]
            )
        )
    )
    return _return_to(db, skill, newest, at, pinned=None)


def _return_to(
    db: Database,
    skill: database_sql.Row,
    version: database_sql.Row,
    at: str,
    *,
    pinned: int | None,
) -> set[str]:
    fields = reading_versions.restored(version) | {"pinned_version_id": pinned}
    if version["skill_id"] != skill["skill_id"]:
        fields |= NO_NAME
    settings = ", ".join(f"{column} = :{column}" for column in fields)
    db.execute(f"UPDATE skills SET {settings} WHERE id = :id", fields | {"id": skill["id"]})
    dialects.write(db.conn, {skill["id"]: dialects.restored(version)})
    references.write(db.conn, {skill["id"]: references.restored(version)})
    if skill["status"] in ("active", "shadowed"):
        fulltext.replace(db.conn, [fulltext.stored_document(db, skill["id"], version)])
    ingestions.add(
        db.conn,
        [
            Ingestion(
                skill["id"],
                skill["root"],
                skill["path"],
                None,
                "command",
                "pinned" if pinned else "unpinned",
                f"to version {version['version']}",
                version["id"],
                max(at, skill["last_changed"]),
            )
        ],
    )
    _set_finding(db, skill, version if pinned else None)
    return {skill["skill_id"], version["skill_id"]}


def _set_finding(db: Database, skill: database_sql.Row, pinned: database_sql.Row | None) -> None:
    db.execute(
        "DELETE FROM findings WHERE skill = ? AND code = ?",
        [skill["id"], publication_findings.VERSION_HELD.code],
    )
    if pinned:
        db.execute(
            insert("findings", mapping.FINDING_COLUMNS),
            mapping.finding(
                skill["id"],
                skill["root"],
                skill["path"],
                publication_findings.held(pinned["version"]),
            ),
        )

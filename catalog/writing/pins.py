"""Pins of skills to one of their versions, in the caller's transaction."""

from typing import NamedTuple

from catalog.database import sql as database_sql
from catalog.database import withheld
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.values import IngestionOutcome
from catalog.reading import versions as reading_versions
from catalog.reading.versions import find_skill, find_version
from catalog.text.confusables import skeleton
from catalog.writing.rows import dialects, fulltext, ingestions, references, reviews
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
    change = Return("pinned", f"to version {pinned['version']}", at)
    return return_to(db, skill, pinned, change, pinned=pinned["id"])


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
    newest = reviews.newest_publishable(db, skill["id"])
    assert newest  # a skill is pinned to such a version
    change = Return("unpinned", f"to version {newest['version']}", at)
    return return_to(db, skill, newest, change, pinned=None)


class Return(NamedTuple):
    """Why and when a skill changes to a version that is stored already."""

    outcome: IngestionOutcome
    detail: str
    at: str  # ISO 8601, UTC


def return_to(
    db: Database,
    skill: database_sql.Row,
    version: database_sql.Row,
    change: Return,
    *,
    pinned: int | None,
) -> set[str]:
    """Make a version the current one of a skill; return each skill_id concerned."""
    fields = reading_versions.restored(version) | {"pinned_version_id": pinned}
    if version["skill_id"] != skill["skill_id"]:
        fields |= NO_NAME
    fields["skeleton"] = skeleton(fields["skill_id"])
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
                change.outcome,
                change.detail,
                version["id"],
                max(change.at, skill["last_changed"]),
            )
        ],
    )
    reviews.update_findings(db, skill["id"])
    return {skill["skill_id"], version["skill_id"]}

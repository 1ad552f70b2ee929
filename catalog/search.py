"""Questions asked of the catalog; all of them only read."""

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sqlite_utils import Database

from catalog import excerpts, ngrams, rows, schema
from catalog.errors import CatalogUnusable, NotInCatalog
from catalog.record import Status


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer of a search, best first."""

    skill_id: str
    name: str
    description: str
    status: str
    level: str
    snippet: str  # the words around the match, which stand between marks
    location: str


def open_catalog(path: Path) -> Database:
    """Open a catalog that another process may be writing. Raises NotInCatalog, CatalogUnusable."""
    if not path.is_file():
        raise NotInCatalog(
            f"There is no catalog at {path} yet. Make one with `skilldrop scan` or `skilldrop up`.")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise CatalogUnusable(f"The catalog {path} cannot be read: it is empty.")
        if connection.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
            raise CatalogUnusable(
                f"{path} is a database of another program. Name another --data directory.")
    except sqlite3.DatabaseError as error:
        raise CatalogUnusable(f"The catalog {path} cannot be read: {error}.") from error
    return Database(connection)


def service_runs(path: Path) -> bool:
    """Tell whether a service says that it keeps this catalog. Raises what open_catalog raises."""
    db = open_catalog(path)
    try:
        return db.execute("SELECT service_pid FROM health").fetchone()[0] is not None
    finally:
        db.conn.close()


# Full-text search

_LOCATED = """
    s.skill_id, s.root, s.path, s.skill_md_name, s.package_path,
    (SELECT packages_folder FROM health) AS packages_folder
"""
_TIERS = ("{name} : ({})", "{name description tags grams} : ({})", "{}")
"""Where words are looked for: each place only if those before it did not give enough."""

_RANKED = """
    SELECT skills_fts.rowid AS id FROM skills_fts JOIN skills AS s ON s.id = skills_fts.rowid
    WHERE skills_fts MATCH :match AND s.status = 'active'
        AND (s.model_invocable OR NOT :for_models)
    ORDER BY s.name = :words DESC, instr(s.name, :words) > 0 DESC,
             bm25(skills_fts, 20, 8, 8, 3, 1, 1, 8), s.name, s.id
    LIMIT :limit
"""
_HITS = f"""
    SELECT s.id, s.name, s.description, s.status, s.level, {_LOCATED},
           CASE WHEN :with_body THEN (SELECT body FROM searched_texts WHERE id = s.id) END AS body
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""


def find(db: Database, words: str, limit: int = 20, *, for_models: bool = False,
         marks: tuple[str, str] = ("[", "]")) -> list[Hit]:
    """Return the active skills that match all words: by name, then by description, then by text.

    Whatever is typed is taken as words: there is no syntax to get wrong. A word matches by its
    stem, or as the beginning of one; Chinese, Japanese and Korean is found in names,
    descriptions and tags. The marks stand around what was found in a snippet. With for_models,
    skills that only people may start are left out.
    """
    words = words.encode(errors="ignore").decode()  # what a shell passes on may not be UTF-8
    match = match_expression(words)
    if not match:
        return []
    near, far = _ranked(db, {"match": match, "words": words.strip(), "limit": limit,
                             "for_models": for_models})
    return [Hit(row["skill_id"], row["name"], row["description"], row["status"], row["level"],
                _snippet(row, words, marks), location(row))
            for ids, with_body in ((near, False), (far, True)) if ids
            for row in db.query(_HITS, {"ids": rows.to_json(ids), "with_body": with_body})]


def _ranked(db: Database, asked: rows.Row) -> tuple[list[int], list[int]]:
    """Return the best rows: those that are about the words, then those that but contain them.

    Ranking all texts takes long, and is done only where the former are too few.
    """
    found: dict[int, int] = {}  # a dict keeps the order
    for number, tier in enumerate(_TIERS):
        if len(found) < asked["limit"]:
            match = tier.replace("{}", asked["match"])
            for row in db.execute(_RANKED, asked | {"match": match}):
                found.setdefault(row[0], number)
    best = list(found)[: asked["limit"]]
    last = len(_TIERS) - 1
    return [one for one in best if found[one] < last], [one for one in best if found[one] == last]


def match_expression(words: str) -> str:
    """Return an FTS5 expression for what a person typed; empty where there is no word in it."""
    terms = []
    for word in re.findall(r"\w+", words):
        for run in ngrams.CJK_RUN.findall(word):
            terms += [f'grams : "{piece}"' for piece in ngrams.pieces(run)]
        terms += [f'"{rest}"*' for rest in ngrams.CJK_RUN.split(word) if rest.strip("_")]
    return " AND ".join(terms)


def _snippet(row: rows.Row, words: str, marks: tuple[str, str]) -> str:
    return (excerpts.excerpt(row["description"], words, marks)
            or excerpts.excerpt(row["body"] or "", words, marks)
            or " ".join(row["description"][:160].split()))


def location(row: rows.Row) -> str:
    """Return the path of a skill's SKILL.md, in its package if it has one, else in its root."""
    if row["package_path"]:
        return f"{row['packages_folder']}/{row['skill_id']}/current/{row['skill_md_name']}"
    return f"{row['root']}/{row['path']}/{row['skill_md_name']}"


def for_models(db: Database, offset: int, limit: int) -> tuple[list[rows.Row], int]:
    """Return some of the skills that a model may start, and how many there are in all.

    They come in the order of an index without featured skills.
    """
    found = db.query(
        f"SELECT name, skill_id, description, level {_FOR_MODELS}"
        " ORDER BY level_rank, ifnull(priority, 0) DESC, name, id LIMIT ? OFFSET ?",
        [limit, offset])
    return list(found), int(db.execute(f"SELECT count(*) {_FOR_MODELS}").fetchone()[0])


_FOR_MODELS = "FROM skills WHERE status = 'active' AND model_invocable = 1"


# Health

def counts(db: Database) -> dict[Status, int]:
    """Return how many skills have each status."""
    found = dict(db.execute("SELECT status, count(*) FROM skills GROUP BY status").fetchall())
    return {status: found.get(status, 0) for status in get_args(Status)}


def status(db: Database) -> dict[str, Any]:
    """Return the health row, counts by status, and all that waits or was rejected, with why."""
    health = next(iter(db.query("SELECT * FROM health")))
    return {
        "health": {key: value for key, value in health.items() if key != "id"},
        "roots": list(db.query("SELECT path, level, acceptance, trouble FROM roots"
                               " WHERE configured = 1 ORDER BY position")),
        "counts": counts(db),
        "findings": {row["severity"]: row["n"] for row in db.query(
            "SELECT severity, count(*) AS n FROM findings GROUP BY severity")},
        "pending": list(db.query(
            "SELECT root, path, pending_since, pending_reason FROM skills"
            " WHERE pending_since IS NOT NULL ORDER BY pending_since")),
        "rejected": list(db.query(
            "SELECT root, path, status_reason AS why FROM skills WHERE status = 'rejected'"
            " ORDER BY root, path")),
        "errors": list(db.query(
            "SELECT root, folder, path, line, code, message, fix FROM findings WHERE id IN"
            " (SELECT id FROM findings WHERE severity = 'error'"
            "  UNION SELECT id FROM findings WHERE skill IS NULL)"
            " ORDER BY root, folder, path, line, id")),
        "indexes": list(db.query(
            "SELECT i.name, b.full + b.shortened + b.name_only AS inside, b.left_out"
            " FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id"
            " ORDER BY i.position")),
        "newest_rejected": list(db.query(
            "SELECT root, path, newest_rejected_at AS since FROM skills"
            # Each plus keeps SQLite from an index by which it would go through nearly all.
            " WHERE newest_rejected_at IS NOT NULL AND +status IN ('active', 'shadowed')"
            " ORDER BY +root, path")),
        "version_held": list(db.query(
            "SELECT s.root, s.path, v.version AS why"
            " FROM skills AS s INDEXED BY skills_by_pinned_version"
            " JOIN versions AS v ON v.id = s.pinned_version_id"
            " WHERE s.pinned_version_id IS NOT NULL AND s.status != 'removed'"
            " ORDER BY s.root, s.path")),
        "shadowed": list(db.query(
            "SELECT root, path, status_reason AS why FROM skills WHERE status = 'shadowed'"
            " ORDER BY root, path")),
    }

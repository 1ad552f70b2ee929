"""Questions asked of the catalog; all of them only read."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sqlite_utils import Database

from catalog import ngrams, prompt_index, rows, schema, tokens
from catalog.errors import CatalogUnusable, NotInCatalog
from catalog.prompt_index import Candidate, IndexSpec, PromptIndex
from catalog.record import Json, Status

NAMED_LEFT_OUT = 100
"""How many of the skills that an index has no room for its report names."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer of a search, best first."""

    skill_id: str
    name: str
    description: str
    status: str
    level: str
    snippet: str  # the words around the match, which stand in square brackets
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


# Full-text search

_HITS = """
    SELECT s.skill_id, s.name, s.description, s.status, s.level, s.root, s.path, s.skill_md_name,
           snippet(skills_fts, 1, '[', ']', '…', 24) AS in_description,
           snippet(skills_fts, 5, '[', ']', '…', 24) AS in_body
    FROM skills_fts JOIN skills AS s ON s.id = skills_fts.rowid
    WHERE skills_fts MATCH :match AND s.status = 'active'
    ORDER BY s.name = :words DESC, bm25(skills_fts, 20, 8, 8, 3, 1, 1, 8), s.name, s.id
    LIMIT :limit
"""


def find(db: Database, words: str, limit: int = 20) -> list[Hit]:
    """Return the active skills that match all words, the name counting most and the body least.

    Whatever is typed is taken as words: there is no syntax to get wrong. A word matches by its
    stem, or as the beginning of one; Chinese, Japanese and Korean is found in names,
    descriptions and tags.
    """
    words = words.encode(errors="ignore").decode()  # what a shell passes on may not be UTF-8
    match = match_expression(words)
    if not match:
        return []
    found = db.query(_HITS, {"match": match, "words": words.strip(), "limit": limit})
    return [
        Hit(row["skill_id"], row["name"], row["description"], row["status"], row["level"],
            _snippet(row), location(row))
        for row in found
    ]


def match_expression(words: str) -> str:
    """Return an FTS5 expression for what a person typed; empty where there is no word in it."""
    terms = []
    for word in re.findall(r"\w+", words):
        for run in ngrams.CJK_RUN.findall(word):
            terms += [f'grams : "{piece}"' for piece in ngrams.pieces(run)]
        terms += [f'"{rest}"*' for rest in ngrams.CJK_RUN.split(word) if rest.strip("_")]
    return " AND ".join(terms)


def _snippet(row: rows.Row) -> str:
    for part in (row["in_description"], row["in_body"]):
        if "[" in part and "]" in part:
            return " ".join(part.split())
    return " ".join(row["description"][:160].split())


# The prompt index

def index_spec(db: Database, name: str) -> IndexSpec:
    """Return the settings of a configured index. Raises NotInCatalog, naming those there are."""
    name = name.encode(errors="replace").decode()  # a shell may pass on what is not UTF-8
    for row in db.query("SELECT * FROM indexes WHERE name = ?", [name]):
        chosen = json.loads(row["filter"])
        return IndexSpec(
            name=name, format=row["format"], budget_chars=row["budget_chars"],
            overflow=row["overflow"], language=row["language"],
            levels=tuple(chosen["levels"]), tags=tuple(chosen["tags"]),
            names=tuple(chosen["names"]), featured=tuple(json.loads(row["featured"])),
            location_base=row["location_base"],
        )
    names = ", ".join(row["name"] for row in db.query("SELECT name FROM indexes ORDER BY position"))
    raise NotInCatalog(f"There is no index {name!r}; there is {names or 'none yet'}.")


def build_index(db: Database, spec: IndexSpec) -> PromptIndex:
    """Return what an index says of the catalog as it is now."""
    return prompt_index.build(spec, ranked(db, spec, prompt_index.most_entries(spec)))


def index_report(db: Database, spec: IndexSpec, index: PromptIndex) -> dict[str, Json]:
    """Return what there is to say of an index beside its text: its size, counts and cuts."""
    inside = [entry.skill for entry in index.entries]
    return {
        "name": spec.name,
        "format": spec.format,
        "sha256": index.sha256,
        "chars": len(index.text),
        "estimated_tokens": tokens.estimate(index.text),
        "budget_chars": spec.budget_chars,
        "full": index.count("full"),
        "shortened": index.count("shortened"),
        "name_only": index.count("name_only"),
        "left_out": count_indexable(db, spec) - len(inside),
        "left_out_names": left_out(db, spec, inside, NAMED_LEFT_OUT),
    }


def ranked(db: Database, spec: IndexSpec, limit: int) -> Iterator[Candidate]:
    """Yield the skills an index may name in the order in which they enter it."""
    found = db.query(_RANKED, {"limit": limit} | _filter(spec))
    for row in found:
        yield Candidate(row["id"], row["name"], row["description"], location(row))


def count_indexable(db: Database, spec: IndexSpec) -> int:
    """Return how many skills an index would name if its budget had no end."""
    return int(db.execute(f"SELECT count(*) FROM skills AS s WHERE {_MAY_ENTER}",
                          _filter(spec)).fetchone()[0])


def left_out(db: Database, spec: IndexSpec, inside: Sequence[int], limit: int) -> list[str]:
    """Return names of skills that an index has no room for, most important first."""
    found = db.query(
        f"SELECT s.name FROM skills AS s WHERE {_MAY_ENTER}"
        f" AND s.id NOT IN (SELECT value FROM json_each(:inside)) ORDER BY {_ORDER} LIMIT :limit",
        _filter(spec) | {"inside": rows.to_json(inside), "limit": limit})
    return [row["name"] for row in found]


def location(row: rows.Row) -> str:
    """Return the path of a skill's SKILL.md."""
    return f"{row['root']}/{row['path']}/{row['skill_md_name']}"


_ORDER = "s.level_rank, ifnull(s.priority, 0) DESC, s.name, s.id"
_MAY_ENTER = """
    s.status = 'active' AND s.model_invocable = 1
    AND (:levels = '[]' OR s.level IN (SELECT value FROM json_each(:levels)))
    AND (:names = '[]' OR s.name IN (SELECT value FROM json_each(:names)))
    AND (:tags = '[]' OR EXISTS (SELECT 1 FROM json_each(:tags) AS wanted
         JOIN json_each(s.tags) AS has ON has.value = wanted.value))
"""
_RANKED = f"""
    SELECT s.id, s.name, s.description, s.root, s.path, s.skill_md_name
    FROM skills AS s WHERE {_MAY_ENTER} ORDER BY {_ORDER} LIMIT :limit
"""


def _filter(spec: IndexSpec) -> dict[str, str]:
    return {"levels": rows.to_json(spec.levels), "names": rows.to_json(spec.names),
            "tags": rows.to_json(spec.tags)}


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
            "SELECT root, folder, path, line, code, message, fix FROM findings"
            " WHERE severity = 'error' OR skill IS NULL ORDER BY root, folder, path, line, id")),
        "indexes": list(db.query(
            "SELECT i.name, b.full + b.shortened + b.name_only AS inside, b.left_out"
            " FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id"
            " ORDER BY i.position")),
        "newest_rejected": list(db.query(
            "SELECT root, path, newest_rejected_at AS since FROM skills"
            " WHERE newest_rejected_at IS NOT NULL AND status IN ('active', 'shadowed')"
            " ORDER BY root, path")),
        "shadowed": list(db.query(
            "SELECT root, path, status_reason AS why FROM skills WHERE status = 'shadowed'"
            " ORDER BY root, path")),
    }

"""Full-text search, and the skills for models; reads only."""

import re
from dataclasses import dataclass

from sqlite_utils import Database

from catalog.database import index_order, sql
from catalog.text import ngrams, snippets


@dataclass(frozen=True, slots=True)
class Hit:
    """Skill found by a search."""

    skill_id: str
    name: str
    description: str
    status: str
    level: str
    snippet: str  # text around the match, which is between marks
    location: str


# Full-text search

MOST_WORDS = 32
"""Words of one search, at most; each costs a lookup in the index."""
MOST_CHARACTERS = 500
"""Characters of one search; in Chinese, Japanese and Korean each may be a word."""

_LOCATED = """
    s.skill_id, s.root, s.path, s.skill_md_name, s.package_path,
    (SELECT packages_folder FROM health) AS packages_folder
"""
_TIERS = ("{name} : ({})", "{name description tags grams} : ({})", "{}")
"""Columns to search; each tier is used only if the tiers before it gave too few skills."""

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


def find(
    db: Database,
    words: str,
    limit: int = 20,
    *,
    for_models: bool = False,
    marks: tuple[str, str] = ("[", "]"),
) -> list[Hit]:
    """Return the active skills that match all words: by name, then by description, then by text.

    Any input is words; there is no query syntax. A word matches by its stem or as a prefix.
    Chinese, Japanese and Korean text is found in names, descriptions and tags. The marks enclose
    matches in a snippet. With for_models, skills that only people may start are left out.
    `bounded` limits the words.
    """
    words, _ = bounded(words.encode(errors="ignore").decode())  # a shell may pass other bytes
    match = match_expression(words)
    if not match:
        return []
    near, far = _ranked(
        db, {"match": match, "words": words.strip(), "limit": limit, "for_models": for_models}
    )
    return [
        Hit(
            row["skill_id"],
            row["name"],
            row["description"],
            row["status"],
            row["level"],
            _snippet(row, words, marks),
            location(row),
        )
        for ids, with_body in ((near, False), (far, True))
        if ids
        for row in db.query(_HITS, {"ids": sql.to_json(ids), "with_body": with_body})
    ]


def _ranked(db: Database, values: sql.Row) -> tuple[list[int], list[int]]:
    """Return the best skills: those about the words, and those that only contain them.

    Ranking all texts takes long, so it is done only if the former are too few.
    """
    tiers: dict[int, int] = {}  # by skill, in order
    for number, tier in enumerate(_TIERS):
        if len(tiers) < values["limit"]:
            match = tier.replace("{}", values["match"])
            for (skill,) in db.execute(_RANKED, values | {"match": match}):
                tiers.setdefault(skill, number)
    best = list(tiers)[: values["limit"]]
    last = len(_TIERS) - 1
    return (
        [skill for skill in best if tiers[skill] < last],
        [skill for skill in best if tiers[skill] == last],
    )


def bounded(words: str) -> tuple[str, str]:
    """Return the words to search for, and a sentence about the words left out, or ""."""
    ends = [match.end() for match in re.finditer(r"\w+", words)]
    kept = [end for end in ends[:MOST_WORDS] if end <= MOST_CHARACTERS]
    if len(kept) == len(ends):
        return words[:MOST_CHARACTERS], ""
    if not kept:
        return words[:MOST_CHARACTERS], (f"Only the first {MOST_CHARACTERS} characters were used.")
    used = "word was" if len(kept) == 1 else f"{len(kept)} words were"
    return words[: kept[-1]], f"Only the first {used} used; {len(ends)} were given."


def match_expression(words: str) -> str:
    """Return an FTS5 expression for any input; empty if it has no word."""
    terms = []
    for word in re.findall(r"\w+", words):
        for run in ngrams.CJK_RUN.findall(word):
            terms += [f'grams : "{piece}"' for piece in ngrams.pieces(run)]
        terms += [f'"{rest}"*' for rest in ngrams.CJK_RUN.split(word) if rest.strip("_")]
    return " AND ".join(dict.fromkeys(terms))


def _snippet(row: sql.Row, words: str, marks: tuple[str, str]) -> str:
    return (
        snippets.excerpt(row["description"], words, marks)
        or snippets.excerpt(row["body"] or "", words, marks)
        or snippets.beginning(row["description"])
    )


def location(row: sql.Row) -> str:
    """Return the path of a skill's SKILL.md, in its package if it has one, else in its root."""
    if row["package_path"]:
        return f"{row['packages_folder']}/{row['skill_id']}/current/{row['skill_md_name']}"
    return f"{row['root']}/{row['path']}/{row['skill_md_name']}"


def for_models(db: Database, offset: int, limit: int) -> tuple[list[sql.Row], int]:
    """Return a page of the skills that a model may start, in index order, and their total."""
    rows = db.query(
        f"SELECT name, skill_id, description, level {_FOR_MODELS}"
        f" ORDER BY {index_order.SQL} LIMIT ? OFFSET ?",
        [limit, offset],
    )
    return list(rows), int(db.execute(f"SELECT count(*) {_FOR_MODELS}").fetchone()[0])


_FOR_MODELS = "FROM skills AS s WHERE status = 'active' AND model_invocable = 1"

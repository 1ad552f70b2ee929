"""Full-text search: the skills for a task in plain words, best first; reads only."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jellyfish import damerau_levenshtein_distance
from sqlite_utils import Database

from catalog.database import index_order, sql
from catalog.text import snippets
from catalog.text.query_terms import Term, terms_of

MOST_TERMS = 32
"""Terms of one search, at most: the rarest ones. Each costs a lookup in the index."""
CANDIDATES = 200
"""Skills ranked by each of the two indexes."""
SHORT_WEIGHT = 0.4
"""Weight of a match in name, description and tags, beside the match in the whole text."""
LONGEST_NAME = 200
"""Characters of a query that may be a name."""
SHORTEST_PREFIX = 3
"""Letters of a word that is not found from which it may be the beginning of another."""
MOST_CORRECTIONS = 5
"""Unknown words of a query for which a similar word is looked up."""
LETTERS_A_SLIP, MOST_SLIPS = 3, 2
"""Letters of a word for each that may be wrong, missing, too many or exchanged; most such slips."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Skill found by a search."""

    skill_id: str
    name: str
    description: str
    status: str
    level: str
    version: str | None
    score: float  # higher is better; comparable within one search only
    matched: tuple[str, ...]  # terms of the query
    snippet: str  # text around the match, which is between marks
    location: str


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a search, and how the query was read."""

    hits: tuple[Hit, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()  # words that no skill has, and words used instead
    unknown: tuple[str, ...] = ()  # words that no skill has, without a similar word
    left_out: int = 0  # terms beyond the limit

    @property
    def note(self) -> str:
        """Sentences about corrected, unknown and unused words; empty if there are none."""
        sentences = [
            f"No skill contains '{word}'; searched for '{used}'." for word, used in self.corrections
        ]
        if self.unknown:
            words = ", ".join(f"'{word}'" for word in self.unknown[:5])
            sentences.append(f"No skill contains {words}.")
        if self.left_out:
            sentences.append(f"The {MOST_TERMS} rarest words were used.")
        return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class _Query:
    """FTS5 expressions of the terms that skills have, by the text of the term."""

    expressions: dict[str, str]
    corrections: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    left_out: int


def search(
    db: Database,
    query: str,
    limit: int = 20,
    *,
    offset: int = 0,
    for_models: bool = False,
    marks: tuple[str, str] = ("[", "]"),
) -> Results:
    """Return the active skills for a query, which may be a task in sentences of any length.

    Any word may match; skills that match more and rarer words come first, and a skill whose name
    is the query comes before all others. There is no query syntax. A word matches by its stem. A
    word that no skill has is taken for the beginning or a misspelling of another. The marks
    enclose matches in a snippet. With for_models, skills that only people may start are left out.
    """
    query = query.encode(errors="ignore").decode()  # a shell may pass other bytes
    terms = terms_of(query)
    if not terms:
        return Results()
    read = _read(db, terms)
    scores = _scores(db, " OR ".join(read.expressions.values()), for_models=for_models)
    named = _named(db, query, for_models=for_models)
    ranked = sorted(
        scores.keys() | set(named), key=lambda i: (i not in named, -scores.get(i, 0), i)
    )
    page = ranked[offset : offset + limit]
    matched = _matched(db, read.expressions, page)
    words = " ".join([*read.expressions, *(used for _, used in read.corrections)])
    hits = tuple(
        Hit(
            row["skill_id"],
            row["name"],
            row["description"],
            row["status"],
            row["level"],
            row["version"],
            round(scores.get(row["id"], 0.0), 3),
            tuple(matched[row["id"]]),
            _snippet(row, words, marks),
            location(row),
        )
        for row in db.query(_HITS, {"ids": sql.to_json(page)})
    )
    return Results(hits, read.corrections, read.unknown, read.left_out)


def find(db: Database, query: str, limit: int = 20, *, for_models: bool = False) -> list[Hit]:
    """Return only the skills of `search`."""
    return list(search(db, query, limit, for_models=for_models).hits)


def _read(db: Database, terms: Sequence[Term]) -> _Query:
    """Replace terms that no skill has, and keep the rarest terms."""
    expressions: dict[str, str] = {}
    counts: dict[str, int] = {}
    corrections: list[tuple[str, str]] = []
    unknown: list[str] = []
    for term in terms[: MOST_TERMS * 8]:
        expression = _expression(term)
        if not _exists(db, expression):
            if term.is_cjk:
                continue
            is_tried = len(corrections) + len(unknown) < MOST_CORRECTIONS
            similar = _similar(db, term.text) if is_tried else None
            if similar is None:
                unknown.append(term.text)
                continue
            expression, shown = similar
            if shown:
                corrections.append((term.text, shown))
        expressions[term.text] = expression
    left_out = max(0, len(expressions) - MOST_TERMS)
    if left_out:
        for text, expression in expressions.items():
            counts[text] = db.execute(_COUNT, [expression]).fetchone()[0]
        kept = sorted(expressions, key=lambda text: counts[text])[:MOST_TERMS]
        expressions = {text: expressions[text] for text in expressions if text in kept}
    return _Query(expressions, tuple(corrections), tuple(unknown), left_out)


def _expression(term: Term) -> str:
    if not term.is_cjk:
        return f'"{term.text}"'
    # A single character is the beginning of each pair in which it comes first.
    prefix = "*" if len(term.text) == 1 else ""
    return f'{{grams body_grams}} : "{term.text}"{prefix}'


def _exists(db: Database, expression: str) -> bool:
    return db.execute(_EXISTS, [expression]).fetchone() is not None


def _similar(db: Database, word: str) -> tuple[str, str] | None:
    """Return the expression for a word that no skill has, and the word that it stands for.

    That is "" for the beginning of a word. None if no word is similar.
    """
    if len(word) >= SHORTEST_PREFIX and _exists(db, prefix := f'"{word}"*'):
        return prefix, ""
    slips = len(word) // LETTERS_A_SLIP
    if not slips:
        return None
    lengths = {"least": len(word) - slips, "most": len(word) + slips}
    near = [
        (damerau_levenshtein_distance(word, term), term)
        for (term,) in db.execute(_VOCABULARY, {"first": word[0]} | lengths)
    ]
    distance, term = min(near, default=(len(word), ""))
    return (f'"{term}"*', term) if distance <= min(slips, MOST_SLIPS) else None


def _scores(db: Database, match: str, *, for_models: bool) -> dict[int, float]:
    """Return the best skills with their scores."""
    if not match:
        return {}
    values = {"match": match, "limit": CANDIDATES, "for_models": for_models}
    scores = dict(db.execute(_WHOLE, values).fetchall())
    short = match.replace("{grams body_grams}", "grams")
    for skill, score in db.execute(_SHORT, values | {"match": short}):
        scores[skill] = scores.get(skill, 0.0) + SHORT_WEIGHT * score
    return scores


def _named(db: Database, query: str, *, for_models: bool) -> list[int]:
    """Return the active skills whose name is the query, but for case and punctuation."""
    query = query[:LONGEST_NAME]
    slug = re.sub(r"[\W_]+", "-", query.lower()).strip("-")
    rows = db.execute(_NAMED, {"query": query.strip(), "slug": slug, "for_models": for_models})
    return [skill for (skill,) in rows]


def _matched(
    db: Database, expressions: dict[str, str], skills: Iterable[int]
) -> dict[int, list[str]]:
    """Return the terms of the query that each skill has."""
    matched: dict[int, list[str]] = {skill: [] for skill in skills}
    wanted = sql.to_json(list(matched))
    for text, expression in expressions.items():
        for (skill,) in db.execute(_HAVING, {"match": expression, "skills": wanted}):
            matched[skill].append(text)
    return matched


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

_LOCATED = """
    s.skill_id, s.root, s.path, s.skill_md_name, s.package_path,
    (SELECT packages_folder FROM health) AS packages_folder
"""
_ACTIVE = "s.status = 'active' AND (s.model_invocable OR NOT :for_models)"
_WHOLE = f"""
    SELECT f.rowid, -bm25(skills_fts) AS score FROM skills_fts AS f
    JOIN skills AS s ON s.id = f.rowid
    WHERE skills_fts MATCH :match AND {_ACTIVE} ORDER BY bm25(skills_fts) LIMIT :limit
"""
_SHORT = _WHOLE.replace("skills_fts", "skills_short_fts")
_NAMED = f"SELECT id FROM skills AS s WHERE (name = :query OR skill_id = :slug) AND {_ACTIVE}"
_EXISTS = "SELECT 1 FROM skills_fts WHERE skills_fts MATCH ? LIMIT 1"
_COUNT = "SELECT count(*) FROM skills_fts WHERE skills_fts MATCH ?"
_HAVING = """
    SELECT f.rowid FROM json_each(:skills) AS wanted
    CROSS JOIN skills_fts AS f ON f.rowid = wanted.value WHERE skills_fts MATCH :match
"""
_VOCABULARY = """
    SELECT term FROM search_vocabulary
    WHERE term >= :first AND term < :first || char(0x10ffff)
        AND length(term) BETWEEN :least AND :most
"""
_HITS = f"""
    SELECT s.id, s.name, s.description, s.status, s.level, v.version, {_LOCATED},
           (SELECT body FROM searched_texts WHERE id = s.id) AS body
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    LEFT JOIN versions AS v ON v.id = s.current_version_id
    ORDER BY wanted.key
"""

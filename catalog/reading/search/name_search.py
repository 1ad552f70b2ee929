"""Skills whose name is a query, or is nearly spelled like it."""

import heapq
import re
from collections.abc import Mapping
from unicodedata import normalize

from catalog.database.queries import Database
from catalog.reading.search.filters import Filters
from catalog.text.suggestions import similarity, slips

LONGEST_NAME = 200
"""Characters of a query that may be a name."""
LONGEST_COMPARED, MOST_COMPARED = 50, 20_000
"""Characters of a query that are compared with names, and most such names."""
MOST_WORDS = 8
"""Words of a query that may be a name, with typing slips."""
ALIKE = 0.83
"""Likeness from which a name is offered; invented words are below that of nearly all names."""
SHORTEST_WITH_SLIP = 5
"""Letters of a name from which one may be wrong, missing, too many or exchanged."""
_FIRST_LETTERS = 3


def named(
    db: Database, query: str, expressions: Mapping[str, str], filters: Filters
) -> dict[int, int]:
    """Return the skills whose name is the query, each with its rank, best 0.

    Rank 0 is the name in any case and punctuation, 1 the same letters, 2 with one typing slip.
    expressions are those of the query's terms.
    """
    query = query[:LONGEST_NAME].strip()
    slug = re.sub(r"[\W_]+", "-", normalize("NFKC", query).lower()).strip("-")
    values = {"query": query, "slug": slug} | filters.values
    exact = {skill: 0 for (skill,) in db.execute(_EXACT.format(filters.condition), values)}
    letters = _letters(query)
    if exact or len(letters) < SHORTEST_WITH_SLIP or slug.count("-") >= MOST_WORDS:
        return exact
    words = [text for text in expressions.values() if not text.startswith("{")]
    match = " OR ".join([*words, f'^"{letters[:_FIRST_LETTERS]}"*'])
    rows = db.execute(
        _NEAR.format(filters.condition),
        {"match": f"name : ({match})", "length": len(letters)} | filters.values,
    )
    near = {skill: min(slips(letters, _letters(form)) for form in forms) for skill, *forms in rows}
    return {skill: 1 + wrong for skill, wrong in near.items() if wrong <= 1}


def nearest(db: Database, query: str, filters: Filters, limit: int = 3) -> tuple[str, ...]:
    """Return the names near a query, best first; none for a long sentence."""
    if len(re.findall(r"\w+", query)) > MOST_WORDS:
        return ()
    values = {"limit": MOST_COMPARED} | filters.values
    near = [
        (-alike, name)
        for (name,) in db.execute(_NAMES.format(filters.condition), values)
        if (alike := likeness(query, name)) >= ALIKE
    ]
    return tuple(name for _, name in heapq.nsmallest(limit, near))


def likeness(query: str, name: str) -> float:
    """Return how near a name is to a query, from 0 to 2: by its letters, and by most words."""
    asked, name = query[:LONGEST_COMPARED].lower(), name.lower()
    words = set(_WORD.findall(asked))
    common = len(words.intersection(_WORD.findall(name)))
    return similarity(asked, name) + (common / len(words) if 2 * common > len(words) else 0)


_WORD = re.compile(r"[^\W_]+")


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


# CROSS JOIN: SQLite prefers the index of a filter to those of both names, and reads all skills.
_EXACT = """
    SELECT s.id FROM (
        SELECT id FROM skills WHERE name = :query
        UNION SELECT id FROM skills WHERE skill_id = :slug) AS wanted
    CROSS JOIN skills AS s ON s.id = wanted.id WHERE {}
"""
_NEAR = """
    SELECT s.id, s.name, s.skill_id FROM skills_fts AS f CROSS JOIN skills AS s
        ON s.id = f.rowid
    WHERE skills_fts MATCH :match AND {}
        AND length(replace(s.skill_id, '-', '')) BETWEEN :length - 1 AND :length + 1
"""
_NAMES = "SELECT DISTINCT name FROM skills AS s WHERE {} LIMIT :limit"

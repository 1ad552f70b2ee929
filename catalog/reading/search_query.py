"""FTS5 expressions for the terms of a query, with corrections of words that no skill has."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.database.queries import Database
from catalog.database.stemming import Stemmer
from catalog.text import suggestions
from catalog.text.search_terms import Term

MOST_TERMS = 16
"""Terms of one search, at most: the rarest ones. More take time and find nothing better."""
READ_TERMS = 16 * MOST_TERMS
"""Terms of a query among which the rarest ones are looked for: the first ones."""
GRAMS = "{grams body_grams}"
"""Columns of CJK pairs, as a filter in FTS5; those of the short table are `grams` alone."""
SHORTEST_PREFIX = 3
"""Letters of a word that is not found, or being typed, from which it may begin another."""
MOST_CORRECTIONS = 5
"""Unknown words of a query for which a similar word is looked up."""
LETTERS_A_SLIP, MOST_SLIPS = 3, 2
"""Letters of a word for each that may be wrong, missing, too many or exchanged; most such slips."""
SHORTEST_STEM = 6
"""Letters of a stem that may have a slip, too: shorter ones are too similar to others."""


@dataclass(frozen=True, slots=True)
class Query:
    """FTS5 expressions of the terms that skills have, by the text of the term."""

    expressions: dict[str, str]
    corrections: tuple[tuple[str, str], ...]  # words that no skill has, and words used instead
    unknown: tuple[str, ...]  # words that no skill has, without a similar word
    left_out: int  # terms beyond the limit

    @property
    def match(self) -> str:
        """Return the expression for any of the terms; "" if there is none."""
        return " OR ".join(self.expressions.values())


def read(db: Database, terms: Sequence[Term], *, is_typing: bool = False) -> Query:
    """Replace terms that no skill has, and keep the rarest terms.

    With is_typing, the last term is the beginning of a word.
    """
    expressions: dict[str, str] = {}
    corrections: list[tuple[str, str]] = []
    unknown: list[str] = []
    for term in islice(terms, READ_TERMS):
        is_prefix = is_typing and term == terms[-1] and len(term.text) >= SHORTEST_PREFIX
        expression = _expression(term, is_prefix=is_prefix)
        if not _exists(db, expression):
            if term.is_cjk:
                continue
            is_tried = len(corrections) + len(unknown) < MOST_CORRECTIONS
            similar = _similar(db, term.text) if is_tried else None
            if similar is None:
                unknown.append(term.text)
                continue
            expression, used = similar
            if used:
                corrections.append((term.text, used))
        expressions[term.text] = expression
    left_out = max(0, len(expressions) - MOST_TERMS) + max(0, len(terms) - READ_TERMS)
    return Query(
        _rarest(db, expressions),
        tuple(corrections),
        tuple(unknown),
        left_out if expressions else 0,
    )


def _rarest(db: Database, expressions: dict[str, str]) -> dict[str, str]:
    """Keep the terms that the fewest names, descriptions and tags have: these count fast."""
    if len(expressions) <= MOST_TERMS:
        return expressions
    counts = {
        text: db.execute(_COUNT, [expression.replace(GRAMS, "grams")]).fetchone()[0]
        for text, expression in expressions.items()
    }
    kept = set(sorted(expressions, key=counts.__getitem__)[:MOST_TERMS])
    return {text: expressions[text] for text in expressions if text in kept}


def _expression(term: Term, *, is_prefix: bool) -> str:
    if not term.is_cjk:
        return f'("{term.text}" OR "{term.text}"*)' if is_prefix else f'"{term.text}"'
    # A single character is the beginning of each pair in which it comes first.
    prefix = "*" if len(term.text) == 1 else ""
    return f'{GRAMS} : "{term.text}"{prefix}'


def _exists(db: Database, expression: str) -> bool:
    return db.execute(_EXISTS, [expression]).fetchone() is not None


def _similar(db: Database, word: str) -> tuple[str, str] | None:
    """Return the expression for a word that no skill has, and the word that it stands for.

    That is "" for the beginning of a word. Of equally similar words, it is the one that most
    skills have. None if no word is similar.
    """
    if len(word) >= SHORTEST_PREFIX and _exists(db, prefix := f'"{word}"*'):
        return prefix, ""
    slips = min(len(word) // LETTERS_A_SLIP, MOST_SLIPS)
    if not slips:
        return None
    stemmer = Stemmer()
    stem = stemmer.stem(word)
    lengths = {"least": min(len(word) - slips, len(stem) - 1), "most": len(word) + slips}
    near = [
        (distance, -skills, term)
        for term, skills in db.execute(_VOCABULARY, {"first": word[0]} | lengths)
        if (distance := _distance(word, stem, term)) <= slips
    ]
    used = stemmer.word(min(near)[-1]) if near else ""
    stemmer.close()
    return (f'"{used}"', used) if used else None


def _distance(word: str, stem: str, term: str) -> int:
    """Return the slips between a word and a stored term, which is a stem itself."""
    distance = suggestions.slips(word, term)
    if len(stem) >= SHORTEST_STEM and suggestions.slips(stem, term) <= 1:
        return min(distance, 1)
    return distance


_EXISTS = "SELECT 1 FROM skill_text_fts WHERE skill_text_fts MATCH ? LIMIT 1"
_COUNT = "SELECT count(*) FROM skills_fts WHERE skills_fts MATCH ?"
_VOCABULARY = """
    SELECT term, doc FROM search_vocabulary
    WHERE term >= :first AND term < :first || char(0x10ffff)
        AND length(term) BETWEEN :least AND :most
"""

"""Search for skills by a task in plain words, with corrections of words that no skill has."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log

from catalog.database.queries import Database, to_json
from catalog.reading.search import facet_counts, name_search, skill_lists
from catalog.reading.search import filters as search_filters
from catalog.reading.search.filters import Filters
from catalog.reading.search.hits import Hit, hits
from catalog.reading.search.stemmer import stem, word_of
from catalog.text import suggestions
from catalog.text.humanize import count
from catalog.text.search_terms import Term, characters_of, phrases_of, terms_of
from catalog.text.suggestions import slips

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

    expressions: Mapping[str, str]
    corrections: tuple[tuple[str, str], ...] = ()  # words that no skill has, and words used instead
    unknown: tuple[str, ...] = ()  # words that no skill has, without a similar word
    left_out: int = 0  # terms beyond the limit

    @property
    def match(self) -> str:
        """Return the expression for any of the terms; "" if there is none."""
        return " OR ".join(self.expressions.values())

    @property
    def words(self) -> str:
        """Return the words in the expressions, each with an asterisk if it is a beginning."""
        return " ".join(map("".join, re.findall(r'"([^"]+)"(\*?)', self.match)))


_NOTHING = Query({})
ALL = -1
"""Size of a page without a limit."""

CANDIDATES = 800
"""Skills that are ranked: the best by their whole text."""
COMMON_FROM = 1000
"""Skills with a word, from which it may be so common that the ranking does without it."""
RARE_SHARE, RARE_FROM = 5, 2 * CANDIDATES
"""Skills that have a rare word, so that they are ranked: one of so many, and so many at least."""
SHORT_WEIGHT = 0.4
"""Weight of a match in name, description and tags, beside the match in the whole text."""
CJK_SHORT_WEIGHT = 0.8
"""The same for a query with CJK text: its pairs stand in a long text by chance more often."""
MOST_PHRASES, PHRASE_WEIGHT = 16, 0.325
"""Neighbouring words of a query that count once more where they stand together; the weight of their
rarity. BM25 would look for each of them twice, to count the skills first."""
MOST_CHARACTERS, CHARACTER_WEIGHT = 24, 0.2
"""CJK characters of a query that count a little in name, description and tags; their weight."""

RELEVANT = 0.3
"""Share of the best score below which a skill has only some of the words, and common ones."""

_ANY = Filters()
_SEARCHED = ("active", "shadowed", "all")
"""Statuses of skills whose text is in the indexes."""


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a search, and how the query was read."""

    hits: tuple[Hit, ...] = ()
    skills: Sequence[int] = ()  # those of all pages, in their order
    relevant: int = 0  # how many of the best come before relevance ends
    further: int = 0  # skills with only some of the words, which are left out
    query: Query = _NOTHING
    next_offset: int | None = None  # of the next page; None on the last one
    why_empty: str = ""  # sentences about the filters or the query, if there are no results
    nearest: tuple[str, ...] = ()  # names nearest by spelling, if so

    @property
    def note(self) -> str:
        """Sentences about words and filters without a match, and the nearest names, if any."""
        names = " or ".join(suggestions.shown(name) for name in self.nearest)
        return f"{self.explanation} Did you mean {names}?".strip() if names else self.explanation

    @property
    def explanation(self) -> str:
        """Sentences about words and filters without a match; empty if there are none."""
        sentences = [
            f"No published skill contains {suggestions.shown(word)}; searched for '{used}'."
            for word, used in self.query.corrections
        ]
        if self.query.unknown:
            words = ", ".join(map(suggestions.shown, self.query.unknown[:5]))
            sentences.append(f"No published skill contains {words}.")
        if self.query.left_out:
            sentences.append(f"The {MOST_TERMS} rarest words were used.")
        if self.why_empty:
            sentences.append(self.why_empty)
        return " ".join(sentences)


def search(
    db: Database,
    query: str,
    limit: int = 20,
    *,
    offset: int = 0,
    filters: Filters = _ANY,
    is_typing: bool = False,
    marks: tuple[str, str] = ("[", "]"),
    sort: str = "",
    is_near: bool = False,
) -> Results:
    """Return the skills for a query, which may be a task in sentences of any length.

    Any word may match; skills that match more and rarer words come first, and a skill whose name
    is the query, or nearly so, comes before all others. There is no query syntax. A word matches
    by its stem. A word that no skill has is taken for the beginning or a misspelling of another;
    with is_typing, the last word is the beginning of a word. A query without words lists the
    skills by name if there are filters. sort is one of `skill_lists.SORTS`, for results in another
    order. The marks enclose matches in a snippet. With is_near, skills that have only some of the
    words are left out if others have more, and the filters do not decide which these are.
    """
    query = query.encode(errors="ignore").decode()  # a shell may pass other bytes
    terms = terms_of(query)
    if not terms and filters.is_default:
        return Results(why_empty="The query has no words.")
    is_typing = is_typing and query[-1:].isalnum()
    read = read_query(db, terms, is_typing=is_typing)
    relevant = further = 0
    if terms:
        ranked, scores = _ranked(db, query, terms, read, filters)
        of_all = scores
        if is_near and not filters.is_default:
            usual = Filters(status=filters["status"], model_invocable=filters.model_invocable)
            of_all = _ranked(db, query, terms, read, usual)[1]
        relevant = _relevant(ranked, scores, max(of_all.values(), default=0))
        if is_near and relevant:
            further, ranked = len(ranked) - relevant, ranked[:relevant]
        if sort not in ("", "relevance"):
            ranked = _in_order(db, ranked, sort)
    else:
        order = "name" if sort in ("", "relevance") else sort
        ranked, scores = skill_lists.skills(db, filters, sort=order, size=ALL), {}
    page = ranked[offset : offset + limit]
    if ranked and not (_has_text(filters) and any(skill in scores for skill in ranked[:1])):
        # Found by its name or reason: the words need not be in the indexes.
        read = Query(read.expressions)
    return Results(
        hits(db, page, scores, read.expressions, read.words, marks),
        ranked,
        relevant,
        further,
        read,
        offset + limit if len(ranked) > offset + limit else None,
        "" if ranked else why_empty(db, read.match, filters, has_words=bool(terms)),
        () if ranked or not terms else name_search.nearest(db, query, filters),
    )


def _relevant(ranked: Sequence[int], scores: Mapping[int, float], best: float) -> int:
    """Return how many skills come up to the last one whose score is near the best one."""
    least = RELEVANT * best
    near = (n for n, skill in enumerate(ranked, 1) if scores.get(skill, 0) >= least)
    return max(near, default=0)


def _ranked(
    db: Database, query: str, terms: Sequence[Term], read: Query, filters: Filters
) -> tuple[list[int], dict[int, float]]:
    """Return the skills for a query, best first, and the scores of those that have its words."""
    if _has_text(filters):
        scores = _scores(db, query, read, filters)
    else:
        values = {"terms": to_json([term.text for term in terms]), "limit": CANDIDATES}
        without_text = _WITHOUT_TEXT.format(filters.condition)
        scores = dict(db.execute(without_text, values | filters.values).fetchall())
    ranks = name_search.named(db, query, read.expressions, filters)
    worst = len(ranks) + 3
    ranked = sorted(
        scores.keys() | ranks.keys(), key=lambda i: (ranks.get(i, worst), -scores.get(i, 0), i)
    )
    return ranked, scores


def _scores(db: Database, query: str, read: Query, filters: Filters) -> dict[int, float]:
    """Return the best skills by their whole text with their scores: a weighted sum of rankings."""
    values = filters.values | {
        "limit": CANDIDATES,
        "most": 2 * CANDIDATES if filters.is_default else -1,
    }
    whole, short = _WHOLE.format(filters.condition), _SHORT.format(filters.condition)
    characters = characters_of(query)[:MOST_CHARACTERS]
    scores: dict[int, float] = {}
    if read.match:
        match, rare = _ranking_words(db, read.expressions)
        scores |= db.execute(whole, values | {"match": match, "rare": rare}).fetchall()
    best = to_json(list(scores))
    alone = " OR ".join(f'grams : "{character}"*' for character in characters)
    short_weight = CJK_SHORT_WEIGHT if characters else SHORT_WEIGHT
    for statement, expression, weight in (
        (_SHORT_AMONG, read.match.replace(GRAMS, "grams"), short_weight),
        (short, alone, CHARACTER_WEIGHT),
    ):
        if expression:
            given = {"match": expression, "rare": expression, "best": best}
            rows = db.execute(statement, values | given)
            for skill, score in rows:
                scores[skill] = scores.get(skill, 0.0) + weight * score
    (number,) = db.execute(_SKILLS).fetchone()
    for phrase in phrases_of(query)[:MOST_PHRASES]:
        having = db.execute(_WITH_PHRASE, [f'"{phrase}"']).fetchall()
        score = max(log((number + 1) / (len(having) + 0.5) - 1), 0)
        for (skill,) in having:
            if skill in scores:
                scores[skill] += PHRASE_WEIGHT * score
    return scores


def _ranking_words(db: Database, expressions: Mapping[str, str]) -> tuple[str, str]:
    """Return the expressions for the words by which skills are ranked, and for the rare ones.

    FTS5 gives the words that more than half of the skills have next to no weight, but they match
    most skills. So they are left out beside others. Without filters, a skill is ranked if it has a
    rare word: the best skills have one, and a score costs more than a match.
    """
    (skills,) = db.execute(_SKILLS).fetchone()
    most = max(skills // 2, COMMON_FROM)
    counts = {each: db.execute(_HAVING, [each]).fetchone()[0] for each in expressions.values()}
    kept = [each for each in counts if counts[each] <= most] or list(counts)
    rare, left = [], max(skills // RARE_SHARE, RARE_FROM)
    for each in sorted(kept, key=counts.__getitem__):
        if left > 0:
            rare.append(each)
            left -= counts[each]
    return " OR ".join(kept), " OR ".join(rare)


def _has_text(filters: Filters) -> bool:
    """Return whether some of the skills asked for have their text in the indexes."""
    return any(status in _SEARCHED for status in filters["status"])


def _in_order(db: Database, skills: Sequence[int], sort: str) -> list[int]:
    rows = db.execute(
        "SELECT s.id FROM json_each(?) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value"
        f" ORDER BY {skill_lists.order_by(db, sort)}",
        [to_json(list(skills))],
    )
    return [skill for (skill,) in rows]


def why_empty(db: Database, match: str, filters: Filters, *, has_words: bool = False) -> str:
    """Return sentences about filters without which there would be results.

    match is the FTS5 expression of the words that skills have.
    """
    wrong = search_filters.unknown(db, filters)
    if wrong or (has_words and not match):  # the words are the reason
        return wrong
    sentences = []
    if not filters.is_default:
        number = facet_counts.number(db, Filters(model_invocable=filters.model_invocable), match)
        sentences.append(
            f"No skill matches these filters; without them {count(number, 'active skill')}"
            f" {'matches' if number == 1 else 'match'}."
        )
    shadowed = facet_counts.number(db, filters.but("status", "shadowed"), match)
    if filters["status"] == ("active",) and shadowed:
        sentences.append(
            f"{count(shadowed, 'shadowed skill')} {'matches' if shadowed == 1 else 'match'};"
            f" the filter status=shadowed finds {'it' if shadowed == 1 else 'them'}."
        )
    return " ".join(sentences)


# CROSS JOIN: a search of the text for each skill of a filter's index would cost far more. Without
# filters only the best matches are looked up among the skills, in the order of the inner query.
_WHOLE = """
    SELECT f.rowid, -f.score FROM (
        SELECT rowid, bm25(skill_text_fts) AS score FROM skill_text_fts
        WHERE skill_text_fts MATCH :match AND (:most < 0 OR rowid IN
            (SELECT rowid FROM skill_text_fts WHERE skill_text_fts MATCH :rare))
        ORDER BY score LIMIT :most) AS f
    CROSS JOIN skills AS s ON s.id = f.rowid WHERE {} LIMIT :limit
"""
_SHORT = _WHOLE.replace("skill_text_fts", "skills_fts")
# +: one search for all of the skills costs less than one for each.
_SHORT_AMONG = """
    SELECT rowid, -bm25(skills_fts) FROM skills_fts
    WHERE skills_fts MATCH :match AND +rowid IN (SELECT value FROM json_each(:best))
"""
_WITH_PHRASE = "SELECT rowid FROM skill_text_fts WHERE skill_text_fts MATCH ?"
_WITHOUT_TEXT = """
    SELECT s.id, (SELECT count(*) FROM json_each(:terms) AS t WHERE instr(
        lower(s.name || ' ' || s.path || ' ' || ifnull(s.status_reason, '')), t.value)) AS score
    FROM skills AS s WHERE {} AND score > 0 ORDER BY score DESC, s.id LIMIT :limit
"""


def read_query(db: Database, terms: Sequence[Term], *, is_typing: bool = False) -> Query:
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
    root = stem(word)
    lengths = {"least": min(len(word) - slips, len(root) - 1), "most": len(word) + slips}
    near = [
        (distance, -skills, term)
        for term, skills in db.execute(_VOCABULARY, {"first": word[0]} | lengths)
        if (distance := _distance(word, root, term)) <= slips
    ]
    used = word_of(min(near)[-1]) if near else ""
    return (f'"{used}"', used) if used not in ("", word) else None


def _distance(word: str, root: str, term: str) -> int:
    """Return the slips between a word and a stored term, which is a stem itself."""
    distance = slips(word, term)
    if len(root) >= SHORTEST_STEM and slips(root, term) <= 1:
        return min(distance, 1)
    return distance


_EXISTS = "SELECT 1 FROM skill_text_fts WHERE skill_text_fts MATCH ? LIMIT 1"
_SKILLS = "SELECT count(*) FROM skills INDEXED BY skills_by_level"
_HAVING = "SELECT count(*) FROM skill_text_fts WHERE skill_text_fts MATCH ?"
_COUNT = "SELECT count(*) FROM skills_fts WHERE skills_fts MATCH ?"
_VOCABULARY = """
    SELECT term, doc FROM search_vocabulary
    WHERE term >= :first AND term < :first || char(0x10ffff)
        AND length(term) BETWEEN :least AND :most
"""

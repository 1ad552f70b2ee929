"""Hits of a search, each with a snippet of its text around a match."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.database.expressions import FOLDER_NAME
from catalog.database.queries import Database, Row, to_json
from catalog.prompt_index.locations import Bases, Locations
from catalog.prompt_index.query import bases_of
from catalog.text import search_terms

BEFORE, LENGTH = 60, 200
"""Characters of a snippet before the match, and in all, at most."""
WIDTH = LENGTH - BEFORE
LOOKED_AT = 6_000
"""Characters of a body in which a better snippet than one of the description is looked for."""
MOST_MATCHES, ENOUGH = 20, 2
"""Matches of a text, the first ones, among which the snippet is chosen; different words in it for
which no other text is read."""

_ENDINGS = re.compile(r"(?<=\w{3})(?:ations?|ingly|ing|edly|ed|ies|es|s|e|y)$")


def excerpt(
    texts: Iterable[str], pattern: "re.Pattern[str]", marks: tuple[str, str], enough: int = 1
) -> str | None:
    """Return a snippet, in one line, of the text that has most different words close together.

    The first text with `enough` words will do, and after two texts one with any word. None without
    a match.
    """
    best, of_text, at = 0, "", None
    for number, text in enumerate(texts):
        if best >= max(1, enough - number // 2):
            break
        matches = list(islice(pattern.finditer(text), MOST_MATCHES))
        words = [match[0].lower() for match in matches]
        for n, match in enumerate(matches):
            ends = (m for m in range(n, len(matches)) if matches[m].end() - match.start() > WIDTH)
            near = len(set(words[n : next(ends, len(matches))]))
            if near > best:
                best, of_text, at = near, text, match
    return _excerpt(of_text, at, pattern, marks) if at else None


def _excerpt(
    text: str, match: "re.Match[str]", pattern: "re.Pattern[str]", marks: tuple[str, str]
) -> str:
    start = max(match.start() - BEFORE, 0)
    shown = text[start : start + LENGTH]
    cut_before, cut_after = start > 0, start + LENGTH < len(text)
    if cut_before:  # at a space, if there is one: Chinese has none
        shown = shown[shown.find(" ", 0, match.start() - start) + 1 :]
    if cut_after and " " in shown[match.end() - start :]:
        shown = shown.rpartition(" ")[0]
    shown = " ".join(_without(shown, marks).split())
    marked = pattern.sub(lambda word: f"{marks[0]}{word[0]}{marks[1]}", shown)
    return f"{'…' if cut_before else ''}{marked}{'…' if cut_after else ''}"


def beginning(text: str) -> str:
    """Return the beginning of a text in one line."""
    shown = " ".join(text[:LENGTH].split())
    return f"{shown}…" if len(text) > LENGTH else shown


def pattern_of(words: str) -> "re.Pattern[str]":
    """Return the pattern for any of the words.

    A word matches by its beginning, in about the forms that the search treats as equal. This need
    not be exact, as it only decides which part of the text is shown.
    """
    terms = []
    for word in re.findall(r"\w+", words):
        terms += [
            re.escape(piece)
            for run in search_terms.CJK_RUN.findall(word)
            for piece in (run, *search_terms.pieces(run))
        ]
        terms += [
            rf"\b{re.escape(_ENDINGS.sub('', rest))}\w*"
            for rest in search_terms.CJK_RUN.split(word)
            if rest.strip("_")
        ]
    return re.compile("|".join(terms) or "(?!)", re.IGNORECASE)


def _without(text: str, marks: tuple[str, str]) -> str:
    """Remove marks that are in the text already, if they are invisible characters."""
    for mark in marks:
        text = text if mark.isprintable() else text.replace(mark, "")
    return text


SHOWN_OTHERS = 3
"""Paths of other skills of a name that come with a hit."""


@dataclass(frozen=True, slots=True)
class Others:
    """Other active and shadowed skills of one name."""

    count: int
    first: tuple[str, ...]  # paths of some of their folders
    rows: tuple[int, ...]  # and their rows


@dataclass(frozen=True, slots=True)
class Hit:
    """Skill found by a search."""

    id: int
    skill_id: str
    name: str
    description: str
    status: str
    level: str
    version: str | None
    score: float  # higher is better; comparable within one search only
    matched: tuple[str, ...]  # terms of the query
    snippet: str  # text around the match, which is between marks, or the reason of the status
    location: str
    others: Others


def hits(
    db: Database,
    skills: Sequence[int],
    scores: Mapping[int, float],
    expressions: Mapping[str, str],
    words: str,
    marks: tuple[str, str],
) -> tuple[Hit, ...]:
    """Return the hits for these skills, in their order; the words are marked in the snippets."""
    matched, pattern = _matched(db, expressions, skills), pattern_of(words)
    rows = db.rows(_HITS, {"ids": to_json(list(skills))})
    # Only published hits have a path below a base, for which the query looks at all skills.
    is_published = any(row["package_path"] or row["folder"] for row in rows)
    locations = Locations(bases_of(db) if is_published else Bases())
    return tuple(
        Hit(
            row["id"],
            row["skill_id"],
            row["name"],
            row["description"],
            row["status"],
            row["level"],
            row["version"],
            round(scores.get(row["id"], 0.0), 3),
            tuple(matched[row["id"]]),
            _snippet(row, pattern, marks, len(matched[row["id"]])),
            locations.of_skill_md(row),
            _others(row),
        )
        for row in rows
    )


def _matched(
    db: Database, expressions: Mapping[str, str], skills: Iterable[int]
) -> dict[int, list[str]]:
    """Return the terms of the query that each skill has."""
    matched: dict[int, list[str]] = {skill: [] for skill in skills}
    wanted = to_json(list(matched))
    for text, expression in expressions.items():
        for (skill,) in db.execute(_HAVING, {"match": expression, "skills": wanted}):
            matched[skill].append(text)
    return matched


def _snippet(row: Row, pattern: "re.Pattern[str]", marks: tuple[str, str], words: int) -> str:
    body = row["body"] or ""
    texts = (row["description"], body[:LOOKED_AT], body)
    return excerpt(texts, pattern, marks, min(words, ENOUGH)) or beginning(
        row["description"] or row["status_reason"] or ""
    )


def _others(row: Row) -> Others:
    others = json.loads(row["others"])
    paths, rows = zip(*others, strict=True) if others else ((), ())
    return Others(row["other_count"], paths, rows)


_OTHERS = (
    "FROM skills WHERE skill_id = s.skill_id AND id != s.id AND status IN ('active', 'shadowed')"
)
_HITS = f"""
    SELECT s.id, s.name, s.description, s.status, s.status_reason, s.level, v.version,
           s.skill_id, s.root, s.path, s.skill_md_name, s.package_path,
           {FOLDER_NAME} AS folder,
           (SELECT body FROM searched_texts WHERE id = s.id) AS body,
           (SELECT count(*) {_OTHERS}) AS other_count,
           (SELECT json_group_array(json_array(place, id)) FROM
               (SELECT root || '/' || path AS place, id {_OTHERS}
                ORDER BY status, id LIMIT {SHOWN_OTHERS})) AS others
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    LEFT JOIN versions AS v ON v.id = s.current_version_id
    ORDER BY wanted.key
"""
_HAVING = """
    SELECT f.rowid FROM json_each(:skills) AS wanted
    CROSS JOIN skill_text_fts AS f ON f.rowid = wanted.value WHERE skill_text_fts MATCH :match
"""
